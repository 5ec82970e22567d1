//go:build v1.35

package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// recordsShareIDs says whether the scheduler tells the allocator of shares in recorded claims.
const recordsShareIDs = false

func celFeatures(gates sets.Set[string]) cel.Features {
	return cel.Features{EnableConsumableCapacity: gates.Has("DRAConsumableCapacity")}
}

func allocatorFeatures(gates sets.Set[string]) structured.Features {
	return structured.Features{
		AdminAccess:            gates.Has("DRAAdminAccess"),
		PrioritizedList:        gates.Has("DRAPrioritizedList"),
		PartitionableDevices:   gates.Has("DRAPartitionableDevices"),
		DeviceTaints:           gates.Has("DRADeviceTaints"),
		ConsumableCapacity:     gates.Has("DRAConsumableCapacity"),
		DeviceBindingAndStatus: gates.HasAll("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
	}
}
