// Command oracle asks Kubernetes' own structured allocator.
//
// It reads one case a line as JSON on standard input and writes one answer a line. With -bench it
// reads a single case with many nodes, places its claims one after the other, and answers with the
// time that took. One source serves every minor: a modfile picks the module, a build tag the file
// that maps feature gates as the scheduler of that minor does.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	timeout := flag.Duration("timeout", 300*time.Millisecond, "time for one case")
	bench := flag.Bool("bench", false, "read one case, place its claims one by one, report the time")
	flag.Parse()
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	if err := run(input, output, *timeout, *bench); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run(input *bufio.Reader, output *bufio.Writer, timeout time.Duration, bench bool) error {
	encoder := json.NewEncoder(output)
	for {
		line, err := input.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		asked, err := readCase(line)
		if err != nil {
			return err
		}
		var answer any
		if bench {
			if answer, err = place(asked); err != nil {
				return err
			}
		} else {
			answer = answerWithin(asked, timeout)
		}
		if err := encoder.Encode(answer); err != nil {
			return err
		}
		if err := output.Flush(); err != nil {
			return err
		}
	}
}

func answerWithin(asked *question, timeout time.Duration) (answer answer) {
	defer func() {
		if cause := recover(); cause != nil {
			answer.Outcome, answer.Error = "panic", fmt.Sprint(cause)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	allocator, err := newAllocator(ctx, asked, allocatedState(asked))
	if err != nil {
		return answerOf(nil, err)
	}
	return answerOf(allocator.Allocate(ctx, asked.Node, asked.Claims))
}
