//go:build v1.37

package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// recordsShareIDs says whether the scheduler tells the allocator of shares in recorded claims.
const recordsShareIDs = true

func celFeatures(gates sets.Set[string]) cel.Features {
	return cel.Features{
		EnableConsumableCapacity: gates.Has("DRAConsumableCapacity"),
		EnableListTypeAttributes: gates.Has("DRAListTypeAttributes"),
	}
}

func allocatorFeatures(gates sets.Set[string]) structured.Features {
	return structured.Features{
		AdminAccess:             gates.Has("DRAAdminAccess"),
		PrioritizedList:         gates.Has("DRAPrioritizedList"),
		PartitionableDevices:    gates.Has("DRAPartitionableDevices"),
		DeviceTaints:            gates.Has("DRADeviceTaints"),
		ConsumableCapacity:      gates.Has("DRAConsumableCapacity"),
		FractionalCapacityRange: gates.Has("DRAFractionalCapacityRange"),
		ListTypeAttributes:      gates.Has("DRAListTypeAttributes"),
		OptionalNodeOperations:  gates.Has("DRAOptionalNodeOperations"),
		DerivedAttributes:       gates.Has("DRADerivedAttributes"),
		CompatibilityGroups:     gates.Has("DRADeviceCompatibilityGroups"),
		DeviceBindingAndStatus:  gates.HasAll("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
	}
}
