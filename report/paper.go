// SPDX-License-Identifier: Apache-2.0

package report

// reference is a published figure or a goal of this project, shown beside a measured figure.
type reference struct {
	bench, key string
	label      string  // what is measured, from where to where
	unit       string  // of the metric
	paper      float64 // published figure; 0 if there is none
	basis      string  // which of the paper's devices, and what the paper does not state
	goal       float64 // this project's goal; 0 if there is none
	atLeast    bool    // the goal is a lower bound
}

// references lists the figures of EPIC (SIGCOMM '26, the hardware section) and the project's goals beside them. The
// paper gives only times; cycles are ours. If a benchmark's record carries the paper's figure as paper_KEY, that one
// is shown.
func references() []reference {
	const vu13p = "VU13P, FP32, 1 KB; start and end of the interval unstated"
	return []reference{
		{"latency", "result_ns", "last contribution's first beat in to result's first beat out", "ns", 244, vu13p, 100, false},
		{"latency", "result_cycles", "the same in cycles", "cycles", 0, "", 25, false},
		{"latency", "result_after_last_cycles", "last contribution's last beat in to result's first beat out", "cycles", 0, "", 9, false},
		{"latency", "result_total_cycles", "last contribution's first beat in to result's last beat out", "cycles", 0, "", 42, false},
		{"latency", "result_min_cycles", "result without the ICRC check", "cycles", 0, "", 0, false},
		{"latency", "forward_ns", "bypassed frame's first beat in to first beat out", "ns", 96, "VU13P", 40, false},
		{"latency", "forward_cycles", "the same in cycles", "cycles", 0, "", 10, false},
		{"latency", "core_ns", "aggregator alone: payload beat in to sum out", "ns", 53, "Agilex, 8 ranks", 24, false},
		{"latency", "core_cycles", "the same in cycles", "cycles", 0, "", 6, false},
		{"aggregate", "beats_per_cycle_min_payload", "one element a packet, all members' for one slot back to back, slowest type", "", 0, "", 0, true},
		{"aggregate", "beats_per_cycle_word", "the same with as many bytes as the bus", "", 0, "", 0, true},
		{"aggregate", "core_cycles", "aggregator alone: payload word in to sum out", "cycles", 0, "", 6, false},
		{"throughput", "ingress_gbps", "accepted input", "Gbit/s", 100, "VU13P, 250 MHz", 128, true},
		{"throughput", "beats_per_cycle", "accepted input beats a cycle", "", 0, "", 0.999, true},
		{"isolation", "chaos_over_bound", "a group's time beside one under chaos over its own and that of the other's frames", "", 0, "", 1, false},
		{"isolation", "counters_moved", "its NICs' counters that differ from those of a run alone", "", 0, "", 0, false},
		{"sim", "go_over_cpp", "time per cycle of the Go harness over a raw C++ loop", "", 0, "", 1.25, false},
		{"sim", "cycles_per_s", "simulated cycles a second", "1/s", 0, "", 0, true},
		{"sim", "frames_per_s", "simulated frames a second", "1/s", 0, "", 0, true},
	}
}
