// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"path"

	"incforge/contract"
)

// Scenario is a test by name. It adapts to the configuration; Needs says what it cannot do without.
type Scenario struct {
	// Name is what --scenario's pattern is matched with.
	Name string
	// Doc is one sentence: stimulus and expectation.
	Doc string
	// Needs returns why a configuration cannot hold the scenario, or nothing. May be nil.
	Needs func(p contract.Params) string
	run   func(t *T) error
}

func needMembers(n int) func(p contract.Params) string {
	return func(p contract.Params) string {
		if p.Members < n {
			return fmt.Sprintf("needs %d members, the configuration has %d", n, p.Members)
		}
		return ""
	}
}

// modeII is for scenarios of what Mode III does in another way, besides what else they need.
func modeII(needs func(p contract.Params) string) func(p contract.Params) string {
	return func(p contract.Params) string {
		switch {
		case p.Mode == 3:
			return "is about Mode II, the configuration is of Mode III"
		case needs != nil:
			return needs(p)
		}
		return ""
	}
}

func needGroups(n int) func(p contract.Params) string {
	return func(p contract.Params) string {
		switch {
		case p.Groups < n:
			return fmt.Sprintf("needs %d groups, the configuration has %d", n, p.Groups)
		case maxGroups(p) < n:
			return fmt.Sprintf("needs slots for %d groups, the configuration has %d", n, p.Slots())
		}
		return ""
	}
}

// needParentPort is what a tree of switches with two children each needs where frames may be nobody's: at the port of a child they would
// run in circles.
func needParentPort(p contract.Params) string {
	if min(2, p.Members)%p.Ports == 0 {
		return fmt.Sprintf("needs a port for the parent that is not a child's, the configuration has %d", p.Ports)
	}
	return ""
}

// needHostTree is what Tree-3-2 needs.
func needHostTree(p contract.Params) string {
	if why := needParentPort(p); why != "" {
		return why
	}
	return needMembers(2)(p)
}

func needECC(p contract.Params) string {
	if !p.ECC {
		return "needs ecc"
	}
	return needMembers(2)(p)
}

// Scenarios lists every scenario in the order in which Run takes them.
func Scenarios() []Scenario {
	return []Scenario{
		{"parse-icrc", "golden frames, and every bit of a frame flipped: damage is dropped under its name, the fields that ICRC leaves out do no harm", nil, scenParse},
		{"allreduce-1psn", "one PSN: nothing before the last rank, then one sum a rank", nil, scenOnePSN},
		{"barrier", "zero-length AllReduce, padded releases", nil, scenBarrier},
		{"ack-reflect", "ACK, NAK, RNR NAK and cumulative ACKs come back to their sender as they are", modeII(nil), scenReflect},
		{"duplicate-before", "a contribution sent twice counts once", nil, scenDuplicateBefore},
		{"duplicate-after", "a retransmission of a complete PSN gets the result again, though others are a window ahead", modeII(nil), scenDuplicateAfter},
		{"no-double-recycle", "a retransmission does not recycle the slot half a ring ahead", modeII(nil), scenNoDoubleRecycle},
		{"slot-reuse", "ten rings of slots, ranks interleaved at random", nil, scenSlotReuse},
		{"stale-alias", "old PSNs that share a slot with younger ones, and window overruns, are dropped", modeII(nil), scenStaleAlias},
		{"psn-wrap", "streams over the wrap of the PSN and over half its range", nil, scenWrap},
		{"gap-nak", "one NAK a gap, claiming nothing untrue; switched off and on", modeII(nil), scenGapNAK},
		{"big-endian", "both byte orders, carries through every lane", nil, scenBigEndian},
		{"arith-types", "every type, operation and byte order: hard values, several packets, all endpoints", nil, scenArithTypes},
		{"arith-single", "what one endpoint alone contributes leaves bit for bit", nil, scenArithSingle},
		{"arith-order", "the same contributions in many orders: the fixed tree's bits, or the sum in the order of acceptance", nil, scenArithOrder},
		{"arith-hazard", "contributions as close as they can be, to one slot, slots in turn, two slots again and again; nothing lost or added twice", nil, scenArithHazard},
		{"arith-length", "odd numbers of elements, beats used in part, pad", nil, scenArithLength},
		{"arith-groups", "groups that compute different things, interleaved packet by packet", needGroups(2), scenArithGroups},
		{"arith-illegal", "settings that are not included or do not fit stay disabled, others stay exact", nil, scenArithIllegal},
		{"ecc", "errors written into the payload memory: single ones are corrected, a double one spoils its own slot until that is recycled", needECC, scenECC},
		{"lengths", "payload lengths and opcodes, padding and trailing bytes", nil, scenLengths},
		{"acks-simultaneous", "ACKs on all ports in the same cycles under back-pressure", modeII(nil), scenSimultaneousAcks},
		{"checksum-carry", "IP headers whose checksum folds twice, in and out", nil, scenChecksumCarry},
		{"ecn-cnp", "congestion marks, CNPs, immediates that differ", nil, scenECN},
		{"inner-node", "a node with a parent: results up, copies down", modeII(nil), scenInner},
		{"reduce", "a Reduce packet by packet: sums to the root alone, its answers to all who contribute, every mask, roles", modeII(needMembers(2)), scenReduce},
		{"broadcast", "a Broadcast packet by packet: copies, what everybody has goes up when it rises or is repeated, NAKs of no more; two levels", modeII(needMembers(2)), scenBroadcast},
		{"in-band", "AllReduce, Broadcast, AllReduce, Reduce, then anything, on one set of connections: every number on every wire", modeII(needInBand(2)), scenInBand},
		{"in-band-controls", "controls that are illegal, contradict, stand where they must not or are lost: dropped under their name, no harm done", modeII(needInBand(2)), scenInBandControls},
		{"in-band-before", "the range before the current one: results again with its numbers, its ACKs and NAKs, answers in the place of data that all have", modeII(needInBand(3)), scenInBandBefore},
		{"in-band-early", "a range that is opened before the one before it is complete has its own window", modeII(needInBand(3)), scenInBandEarly},
		{"in-band-reset", "a group is drained and restarted in the middle of ranges", modeII(needInBand(2)), scenInBandReset},
		{"in-band-random", "ranges in bursts among repetitions, gaps, answers and controls of every kind", needInBand(2), scenInBandRandom},
		{"in-band-mutate", "mutated frames of in-band groups", needInBand(1), scenInBandMutate},
		{"drops", "every reason to drop, counted under its name alone; the first of two faults counts", nil, scenDrops},
		{"bypass", "what is not the engine's leaves unchanged and in order, fairly between engine traffic", nil, scenBypass},
		{"registers", "every register: reset value, read-back, reset in the middle of traffic", nil, scenRegisters},
		{"control", "settings at random, legal and illegal, while other groups carry traffic", nil, scenControl},
		{"random", "bursts of contributions, duplicates, gaps, overruns and ACKs on all ports", nil, scenRandom},
		{"mutate", "mutated frames: invalid ones change no state, all are judged as the reference does", nil, scenMutate},
		{"messages", "messages of one to three packets through host models, nothing lost, nothing sent twice", nil, scenMessages},
		{"barrier-hosts", "barriers through host models", nil, scenBarrierNet},
		{"chaos-broadcast", "Broadcasts through Tree-3-2 and Tree-4-2, half of the ACKs between switches lost", needHostTree, scenChaosBroadcast},
		{"line-rate", "full packets from all ranks as fast as the links allow", nil, scenLineRate},
		{"psn-wrap-hosts", "the wrap of the PSN with two percent loss", nil, scenWrapNet},
		{"rnr", "hosts that run out of receives", nil, scenRNR},
		{"groups", "all groups at once, byte orders and collectives mixed", nil, scenGroups},
		{"isolation", "garbage on one group's endpoints leaves another undisturbed", needGroups(2), scenIsolation},
		{"group-reset", "a group is drained and restarted in the middle, another one goes on", needGroups(2), scenGroupReset},
		{"host-death", "a host falls silent; the group is restarted without it", needMembers(2), scenHostDeath},
		{"tree", "messages through Tree-3-2 and Tree-4-2, every switch an engine", nil, scenTree},
		{"chaos-star", "loss, duplication, reordering, delay, corruption, back-pressure, missing receives on a star", nil, scenChaosStar},
		{"chaos-tree", "the same on Tree-3-2 or Tree-4-2, as the seed has it", needParentPort, scenChaosTree},
		{"chaos-barrier", "the same for barriers on one of these trees", needParentPort, scenChaosBarrier},
		{"pipe-answers", "every contribution is acknowledged at once, a duplicate again, a gap once", modeIII(), scenPipeAnswers},
		{"pipe-cumulative", "one ACK frees a whole pipe, when the last endpoint has sent it", modeIII(), scenPipeCumulative},
		{"pipe-nak", "a NAK has the rest sent again to its sender alone; old ones and those of what was never sent do nothing", modeIII(), scenPipeNAK},
		{"pipe-full", "data that finds its pipe full: RNR NAK, CNP or silence by register, and taken when it is sent again", modeIII(needMembers(2)), scenPipeFull},
		{"pipe-turn", "at a root the broadcast pipe fills and then the aggregation pipe behind it; all leaves in order in the end", modeIII(), scenPipeTurn},
		{"pipe-lost-ack", "a pipe of one slot, its ACK lost: a time-out sends again, to who did not acknowledge", modeIII(needClock), scenPipeLostAck},
		{"pipe-timers", "time-outs to the cycle, back-off, progress", modeIII(needClock), scenPipeTimers},
		{"pipe-rnr", "who answers RNR NAK is left alone for the coded time while the others go on", modeIII(needClock), scenPipeRNR},
		{"pipe-failed", "NAKs that end a connection: nothing more is sent there until the group is started", modeIII(needClock), scenPipeFailed},
		{"pipe-inner", "a node with a parent: two pipes that fill, refuse and empty by themselves", modeIII(), scenPipeInner},
		{"pipe-one-way", "Reduce and Broadcast fixed by registers", modeIII(needMembers(2)), scenPipeOneWay},
		{"pipe-in-band", "collectives of every kind on one set of connections: every number on every wire", modeIII(needInBand(2)), scenPipeInBand},
		{"pipe-random", "pipes of every size, across the wrap, everything lost now and then, answers late, receivers that refuse", modeIII(), scenPipeRandom},
		{"pipe-fair", "frames and actions take turns, and so do those who want to send", modeIII(), scenPipeFair},
		{"pipe-reset", "a group is stopped or started among everything that waits; another one's timers go on", modeIII(needClock, needGroups(2)), scenPipeReset},
		{"pipe-settings", "sizes of pipes that fit and that do not", modeIII(), scenPipeSettings},
		{"registers-random", "registers written at random, any address, value and strobes: one group goes on undisturbed, nothing leaves for who has no part", needGroups(2), scenRegistersRandom},
	}
}

// Select returns the scenarios whose names match the pattern (path.Match; empty for all). A pattern that matches nothing is an
// error.
func Select(pattern string) ([]Scenario, error) {
	if pattern == "" {
		pattern = "*"
	}
	var out []Scenario
	for _, s := range Scenarios() {
		ok, err := path.Match(pattern, s.Name)
		if err != nil {
			return nil, fmt.Errorf("scenario pattern %q: %w", pattern, err)
		}
		if ok {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no scenario matches %q", pattern)
	}
	return out, nil
}
