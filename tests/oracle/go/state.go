package main

import (
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured"
)

// allocatedState is what the scheduler knows of recorded claims: claimTracker and allocatedDevices
// of its plugin dynamicresources. Claims in flight do not occur here.
func allocatedState(asked *question) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	shares := asked.gates.Has("DRAConsumableCapacity")
	for _, claim := range asked.Allocated {
		if claim.Status.Allocation != nil {
			record(state, claim.Status.Allocation, shares)
		}
	}
	return state
}

func record(state structured.AllocatedState, allocation *resourceapi.AllocationResult, shares bool) {
	for _, result := range allocation.Devices.Results {
		if result.AdminAccess != nil && *result.AdminAccess {
			continue
		}
		id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
		if !shares || result.ShareID == nil {
			state.AllocatedDevices.Insert(id)
			continue
		}
		if recordsShareIDs {
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
		}
		if result.ConsumedCapacity != nil {
			state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
		}
	}
}
