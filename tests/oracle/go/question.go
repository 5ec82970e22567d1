package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// question is one case: what the cluster holds, and the claims to allocate on a node.
type question struct {
	Gates     []string                     `json:"gates"`
	Node      *v1.Node                     `json:"node"`
	Nodes     []*v1.Node                   `json:"nodes"`
	Slices    []*resourceapi.ResourceSlice `json:"slices"`
	Classes   []*resourceapi.DeviceClass   `json:"classes"`
	Allocated []*resourceapi.ResourceClaim `json:"allocated"`
	Claims    []*resourceapi.ResourceClaim `json:"claims"`

	gates    sets.Set[string]
	byName   classes
	celCache *cel.Cache
}

// answer is what the allocator said: allocated, none, error, timeout or panic.
type answer struct {
	Outcome     string                         `json:"outcome"`
	Error       string                         `json:"error,omitempty"`
	Allocations []resourceapi.AllocationResult `json:"allocations,omitempty"`
}

// caches holds compiled expressions from case to case, by what their compiler depends on.
var caches = map[cel.Features]*cel.Cache{}

func readCase(line []byte) (*question, error) {
	asked := &question{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(asked); err != nil {
		return nil, err
	}
	asked.gates = sets.New(asked.Gates...)
	asked.byName = classes{}
	for _, class := range asked.Classes {
		asked.byName[class.Name] = class
	}
	features := celFeatures(asked.gates)
	if caches[features] == nil {
		caches[features] = cel.NewCache(1000, features)
	}
	asked.celCache = caches[features]
	return asked, nil
}

func newAllocator(ctx context.Context, asked *question, state structured.AllocatedState) (structured.Allocator, error) {
	return structured.NewAllocator(ctx, allocatorFeatures(asked.gates), state, asked.byName, asked.Slices, asked.celCache)
}

func answerOf(allocations []resourceapi.AllocationResult, err error) answer {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return answer{Outcome: "timeout"}
	case err != nil:
		return answer{Outcome: "error", Error: err.Error()}
	case allocations == nil:
		return answer{Outcome: "none"}
	}
	// Share identifiers are random: only that there is one can be compared.
	some := types.UID("some")
	for _, allocation := range allocations {
		for i := range allocation.Devices.Results {
			if allocation.Devices.Results[i].ShareID != nil {
				allocation.Devices.Results[i].ShareID = &some
			}
		}
	}
	return answer{Outcome: "allocated", Allocations: allocations}
}

// classes serves device classes as the informer of the scheduler would.
type classes map[string]*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) {
	var all []*resourceapi.DeviceClass
	for _, class := range c {
		all = append(all, class)
	}
	return all, nil
}

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	if class := c[name]; class != nil {
		return class, nil
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("deviceclass"), name)
}
