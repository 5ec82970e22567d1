package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// placed is the answer of a benchmark: the node of each claim, and the processor time of all of it.
type placed struct {
	Seconds float64  `json:"seconds"`
	Nodes   []string `json:"nodes"`
	Devices int      `json:"devices"`
}

// place allocates the claims one by one, each with an allocator of its own as in the scheduler. A
// claim goes to the first node that takes it, beginning where the one before it went.
func place(asked *question) (placed, error) {
	ctx := context.Background()
	start, err := processorTime()
	if err != nil {
		return placed{}, err
	}
	state := allocatedState(asked)
	answer := placed{}
	at := 0
	for i := range asked.Claims {
		allocator, err := newAllocator(ctx, asked, state)
		if err != nil {
			return answer, err
		}
		for tries := 0; ; tries++ {
			if tries == len(asked.Nodes) {
				return answer, fmt.Errorf("claim %s fits on no node", asked.Claims[i].Name)
			}
			node := asked.Nodes[at]
			found, err := allocator.Allocate(ctx, node, asked.Claims[i:i+1])
			if err != nil {
				return answer, err
			}
			if found != nil {
				record(state, &found[0], asked.gates.Has("DRAConsumableCapacity"))
				answer.Nodes = append(answer.Nodes, node.Name)
				answer.Devices += len(found[0].Devices.Results)
				break
			}
			at = (at + 1) % len(asked.Nodes)
		}
	}
	end, err := processorTime()
	answer.Seconds = (end - start).Seconds()
	return answer, err
}

func processorTime() (time.Duration, error) {
	usage := syscall.Rusage{}
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}
