// SPDX-License-Identifier: Apache-2.0

package report

import "strings"

// reference is a published figure or a goal of this project, shown beside a measured figure.
type reference struct {
	bench, key string
	label      string  // what is measured, from where to where
	unit       string  // of the metric
	paper      float64 // published figure; 0 if there is none
	paperUnit  string
	basis      string  // which of the paper's devices, and what the paper does not state
	goal       float64 // this project's goal; 0 if there is none
	atLeast    bool    // the goal is a lower bound
}

// name is the key without its unit.
func (r *reference) name() string {
	return strings.TrimSuffix(strings.TrimSuffix(r.key, endCycles), endRate)
}

// paperKey is the metric by which a record carries the paper's figure.
func (r *reference) paperKey() string {
	if r.paperUnit == "ns" {
		return "paper_" + r.name() + endNS
	}
	return "paper_" + r.name() + endGbps
}

// references lists the figures of EPIC (SIGCOMM '26, the hardware section) and the project's goals beside them. The
// paper gives only times; cycles are ours, and become times at the clock that a flow found.
func references() []reference {
	const vu13p = "VU13P, FP32, 1 KB; start and end of the interval unstated"
	cycles := func(bench, key, label string, paper float64, basis string, goal float64) reference {
		return reference{bench: bench, key: key, label: label, unit: "cycles", paper: paper, paperUnit: "ns", basis: basis, goal: goal}
	}
	plain := func(bench, key, label, unit string, goal float64, atLeast bool) reference {
		return reference{bench: bench, key: key, label: label, unit: unit, goal: goal, atLeast: atLeast}
	}
	rate := func(key, label string, paper float64) reference {
		return reference{bench: "throughput", key: key, label: label, unit: "bits a cycle", paper: paper, paperUnit: "Gbit/s", basis: "VU13P, 250 MHz"}
	}
	return []reference{
		cycles("latency", "result_cycles", "last contribution's first beat in to result's first beat out", 244, vu13p, 25),
		cycles("latency", "result_after_last_cycles", "last contribution's last beat in to result's first beat out", 0, "", 9),
		cycles("latency", "result_total_cycles", "last contribution's first beat in to result's last beat out", 0, "", 41),
		cycles("latency", "result_64_cycles", "result with 64 bytes of payload", 0, "", 16),
		cycles("latency", "result_min_cycles", "result without the ICRC check", 0, "", 0),
		cycles("latency", "forward_cycles", "bypassed frame's first beat in to first beat out", 96, "VU13P", 6),
		cycles("latency", "core_cycles", "aggregator alone: payload beat in to sum out", 53, "Agilex, 8 ranks", 6),
		plain("aggregate", "beats_per_cycle_min_payload", "one element a packet, all members' for one slot back to back, slowest type", "", 0, true),
		plain("aggregate", "beats_per_cycle_word", "the same with as many bytes as the bus", "", 0, true),
		cycles("aggregate", "core_cycles", "aggregator alone: payload word in to sum out", 0, "", 6),
		rate("ingress_bits_per_cycle", "accepted input", 100),
		plain("throughput", "beats_per_cycle", "accepted input beats a cycle", "", 0.999, true),
		plain("isolation", "chaos_over_bound", "a group's time beside one under chaos over its own and that of the other's frames", "", 1, false),
		plain("isolation", "counters_moved", "its NICs' counters that differ from those of a run alone", "", 0, false),
		plain("sim", "go_over_cpp", "time per cycle of the Go harness over a raw C++ loop", "", 1.15, false),
		plain("sim", "cycles_per_s", "simulated cycles a second", "1/s", 0, true),
		plain("sim", "frames_per_s", "simulated frames a second", "1/s", 0, true),
	}
}
