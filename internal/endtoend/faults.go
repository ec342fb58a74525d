// SPDX-License-Identifier: Apache-2.0

// Package endtoend tests generator, Verilog, simulator and harness together: what is generated from presets and from shapes drawn
// at random passes its scenarios and cases of chaos, captures replay, the netlist behaves like its source, and faults planted in the Verilog are
// caught. The last is the measure of the harness: a fault that goes unnoticed is a hole in the scenarios.
package endtoend

import "slices"

// Fault is a mistake in the Verilog, made of changed expressions.
type Fault struct {
	// Name says what goes wrong, in the words of the protocol.
	Name string
	// File is relative to the generated folder and holds one module.
	File string
	// Old is an expression in the file, complete in itself: what stands around it must mean the same if it is put in parentheses. New
	// takes its place. If Old stands there more than once, At is the text just before the one that is meant. How much white space there is
	// between two words does not matter.
	At, Old, New string
	// Also are changes of the same file that belong to the fault.
	Also []Change
}

// Change is a changed expression; see Fault.
type Change struct{ At, Old, New string }

// changes are all expressions that the fault changes.
func (f *Fault) changes() []Change {
	return append([]Change{{At: f.At, Old: f.Old, New: f.New}}, f.Also...)
}

// Model is a configuration and the faults that are planted in it, all in one copy.
type Model struct {
	Name string
	// Preset and Sets, as KEY=VALUE, are its parameters.
	Preset string
	Sets   []string
	// Whole says that all scenarios but chaos run with no fault chosen, because no other test runs the configuration; else those that
	// catch a fault.
	Whole bool
	// Brief: of these the longest are left out. Make configs has them.
	Brief bool
	// Few: what runs takes less time than the compiler would need for a model that is as fast as it can be.
	Few    bool
	Faults []Fault
}

// Every is what makes mini an engine of all element types and operations.
func Every() []string {
	return []string{"dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "buffer_bytes=32768", "adder_stages=3"}
}

// Reproducible is Every with sums that do not depend on the order of arrival, an odd number of members, and a payload memory of two banks
// that corrects errors.
func Reproducible() []string {
	return append(Every(), "accumulate=reproducible", "members=5", "ports=5", "buffer_bytes=49152", "lanes=4", "ecc=true", "payload_banks=2")
}

// Eager is Reproducible with a tree that merges siblings as soon as both are complete, and payloads that leave it the time.
func Eager() []string { return append(Reproducible(), "eager_tree=true") }

// Protected is Every with a payload memory that corrects errors.
func Protected() []string { return append(Every(), "ecc=true") }

// Operation is what a switch's operator asks for round the engine: tags, interrupts, ports with queues of two priorities.
func Operation() []string {
	return []string{"vlan=true", "interrupts=true", "port_bytes=4", "priorities=2"}
}

// Models are the configurations that faults are planted in. The faults are those that protocol.md and epic-facts.md warn of, for Mode III
// the list of epic-facts.md 5.B (B1–B18), and those that such designs are known to have had. The richer configurations hold the faults that
// mini and mini3 do not have.
func Models() []Model {
	return []Model{
		{Name: "mini", Preset: "mini", Faults: slices.Concat(slotFaults(), rootedFaults(), inBandFaults(), commitFaults(), arithmeticFaults(),
			outputFaults(), streamFaults(), classFaults(), controlFaults())},
		{Name: "wide", Preset: "mini", Sets: []string{"bus_bytes=64", "lanes=16"}, Few: true, Faults: stepFaults()},
		{Name: "types", Preset: "mini", Sets: Protected(), Faults: slices.Concat(typeFaults(), eccFaults())},
		{Name: "tree", Preset: "mini", Sets: Reproducible(), Whole: true, Faults: treeFaults()},
		{Name: "mini3", Preset: "mini3", Faults: slices.Concat(receiveFaults(), pipeFaults(), sendFaults(), timerFaults(), rangeFaults(),
			turnFaults())},
		{Name: "wide3", Preset: "mini3", Sets: append(Reproducible(), "bus_bytes=64", "lanes=32", "buffer_bytes=98304", "ecc=false", "payload_banks=1"),
			Few: true, Faults: slices.Concat(widePipeFaults(), pairFaults())},
		{Name: "park", Preset: "mini", Sets: []string{"park=true"}, Whole: true, Brief: true, Faults: slices.Concat(parkFaults(), park2Faults())},
		{Name: "park3", Preset: "mini3", Sets: []string{"park=true"}, Whole: true, Faults: slices.Concat(parkFaults(), park3Faults())},
	}
}

// RareModels are those that `make test` does without.
func RareModels() []Model {
	return []Model{
		{Name: "mini1", Preset: "mini1", Faults: slices.Concat(messageFaults(), cutFaults())},
		{Name: "park1", Preset: "mini1", Sets: []string{"park=true"}, Faults: slices.Concat(parkFaults(), park1Faults())},
		{Name: "poison1", Preset: "mini1", Sets: []string{"ecc=true"}, Faults: poisonFaults()},
		{Name: "release1", Preset: "mini1", Sets: []string{"no_releases=false"}, Faults: releaseFaults()},
		{Name: "parkrelease1", Preset: "mini1", Sets: []string{"park=true", "no_releases=false"}, Faults: parkReleaseFaults()},
		{Name: "rangerelease1", Preset: "mini1", Sets: []string{"in_band=true", "no_releases=false"}, Faults: rangeReleaseFaults()},
		{Name: "ranges1", Preset: "mini1", Sets: []string{"in_band=true"}, Faults: messageRangeFaults()},
		{Name: "long1", Preset: "mini1", Sets: []string{"message_bytes=16384", "buffer_bytes=262144"}, Faults: askFaults()},
		{Name: "wide1", Preset: "mini1", Sets: []string{"bus_bytes=64", "lanes=16", "dtypes=[FP32, INT32]", "adder_stages=3"}, Faults: wideMessageFaults()},
		{Name: "eager", Preset: "mini", Sets: Eager(), Whole: true, Faults: eagerFaults()},
		{Name: "operation", Preset: "mini", Sets: Operation(), Faults: slices.Concat(tagFaults(), callFaults(), priorityFaults())},
		{Name: "steer", Preset: "mini", Sets: []string{"engines=2", "groups=1", "vlan=true"}, Faults: steerFaults()},
	}
}

// The files that faults are planted in.
const (
	fileAckAsked       = "rtl/inc_ack_asked.v"
	fileAskAck         = "rtl/inc_ask_ack.v"
	fileCutMessage     = "rtl/inc_cut_message.v"
	fileSendMessage    = "rtl/inc_send_message.v"
	fileAcks           = "rtl/inc_receive_ack.v"
	fileAggregate      = "rtl/inc_aggregate_data.v"
	fileArbiter        = "rtl/inc_port_arbiter.v"
	fileCounters       = "rtl/inc_counters.v"
	fileCSR            = "rtl/inc_csr.v"
	fileCheck          = "rtl/inc_check_duplicate.v"
	fileClass          = "rtl/inc_frame_class.v"
	fileControl        = "rtl/inc_control.v"
	fileCutWork        = "rtl/inc_cut_work.v"
	fileDemux          = "rtl/inc_port_demux.v"
	fileEmit           = "rtl/inc_emit_word.v"
	fileEntry          = "rtl/inc_frame_entry.v"
	fileForward        = "rtl/inc_forward.v"
	fileICRC           = "rtl/inc_icrc_check.v"
	fileClassOut       = "rtl/inc_priority_class.v"
	filePoisoned       = "rtl/inc_poisoned.v"
	fileRelease        = "rtl/inc_release.v"
	filePick           = "rtl/inc_priority_pick.v"
	fileSteerLook      = "rtl/inc_steer_look.v"
	fileTags           = "rtl/inc_vlan_check.v"
	fileInterrupts     = "rtl/inc_interrupts.v"
	fileInsert         = "rtl/inc_icrc_insert.v"
	fileJoin           = "rtl/inc_assemble.v"
	fileLane           = "rtl/inc_lane.v"
	fileLanes          = "rtl/inc_lanes.v"
	fileLookup         = "rtl/inc_lookup_table.v"
	fileMemory         = "rtl/inc_payload_memory.v"
	fileMessage        = "rtl/inc_check_message.v"
	fileMessageCSR     = "rtl/inc_message_csr.v"
	fileNarrow         = "rtl/inc_narrow.v"
	filePacketBuffer   = "rtl/inc_packet_buffer.v"
	fileParser         = "rtl/inc_parser.v"
	filePipe           = "rtl/inc_check_pipe.v"
	fileRecycle        = "rtl/inc_recycle_buffer.v"
	fileReplicate      = "rtl/inc_replicate_data.v"
	fileRetransmission = "rtl/inc_retransmission.v"
	fileSend           = "rtl/inc_send_ack.v"
	fileSkid           = "rtl/inc_skid.v"
	fileSteps          = "rtl/inc_frame_steps.v"
	fileTake           = "rtl/inc_take_row.v"
	fileTurn           = "rtl/inc_start_turn.v"
	fileTranslate      = "rtl/inc_translate_header.v"
	fileEagerTree      = "rtl/inc_eager_tree.v"
	fileMergePlan      = "rtl/inc_merge_plan.v"
	fileTree           = "rtl/inc_reduce_tree.v"
	fileWiden          = "rtl/inc_widen.v"
	fileWork           = "rtl/inc_offer_work.v"
)
