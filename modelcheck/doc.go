// SPDX-License-Identifier: Apache-2.0

// Package modelcheck explores all states of a small network whose switches are the reference engine itself.
//
// # System
//
// A tree of switches with hosts as leaves. A switch is an inc.Engine with one fixed group (AllReduce, Reduce or Broadcast; the last host
// is the communication root), put into a state by Restore, given a decoded packet by Step or an action by ActStep, and read by
// AppendState: there is no second description of the protocol that could differ from the first. A host (model.Host) is a go-back-N
// requester with a window of packets and a responder that may have no receive posted. Every message is one packet of one INT32 (two if
// there are more than four hosts, four if more than eight) in which each host has a byte of its own, with a value for each PSN: a sum shows who is in it, how
// often, and of which PSN. PSNs begin at 2^24-2, so they wrap.
//
// In Mode I a message is several INT32, and its place in the row of all of them makes the value. Hosts cut messages by path MTUs of their own, so PSNs
// of one message differ from host to host. They ask for an acknowledgement of a message's last packet, and answer only what asks; hosts are
// exchanged by a symmetry only if they have the same path MTU.
//
// With Config.Ranges the group is in-band (Modes II and III): the hosts do one collective after the other, each opened by a control from those who send in
// it, in which PSNs on the wire and in the group drift apart as docs/engine.md section 3.3 says. Hosts keep to the rules there: no range is begun, and no
// receive posted for it, before the host's own part of the one before is complete, and a Broadcast's last packet waits for its control's
// acknowledgement. A host without a receive answers with an RNR NAK, which costs nothing of a budget then. Values follow from the
// group's PSNs, so that a packet taken for one of another range shows.
//
// Every link is a queue in each direction, first in first out. Budgets for a whole run say how many packets may be lost, be delivered
// twice, be delivered before others, how many timers may expire too early, how often a receive is missing. Apart from those, timers, and
// waits after an RNR NAK, end only when nothing is on its way, as in the paper's models. Then any one of them does.
//
// In Modes III and I the sends that a frame, a time-out or a resumption makes possible follow it at once (the engine's own order, as in the
// paper's models); with Config.Free they are transitions of their own and interleave with everything.
//
// # Properties
//
//   - No transition is a fault: a result that is not exact, data or an acknowledgement at a host that expects none, an acknowledgement
//     of what was never sent, in Mode II's AllReduce one of what the host has no result of; a slot discarded that somebody needed
//     (inc.Discarded), an invariant of the engine broken (inc.CheckInvariants), a frame sent where nobody is.
//   - No deadlock: where nothing can happen any more, all hosts have sent and got everything and no switch holds anything unfinished.
//   - AG EF done: from every state such an end can be reached, without any more faults of the network. This is found by going backward
//     (progress.go): of every state one transition without a fault is stored, of quiescent states all of them.
//
// # States
//
// All parts are interned (system.go), and a global state is a component number a node and the budgets left. An engine runs some hundreds
// or thousands of times in a search of millions of states.
//
// The set of states seen holds 128 bits a state, a sum over the components' hashes (SHA-256 of their content, cut), which do not depend
// on the numbers given: counts are the same for any number of workers. Two different states have one name with a probability below
// n²/2^129 (Result.Collision); then a part of the space would be missed. Whole states are kept in the frontier only, which may lie in a
// file.
//
// # Symmetry
//
// An automorphism of the tree (one that keeps the communication root) exchanges hosts with their lanes of a payload, and switches with
// their endpoints. A state stands for all its images; its name is the least of theirs. What the image of an engine's state is, nobody
// needs to know: when an engine takes a step, its images take the images of the step, and so the images of the state that results are
// found. If two ways to one state lead to different images, the engine is not symmetric, and the search says so.
//
// # Reduction
//
// In a state that is not quiescent, only the transitions of a set C of nodes are looked at, such that every link into C that is empty
// comes from a node of C (stubborn in moves.go). A node's transitions are what it does with what is on its links, losses of it, its
// sends and its early time-outs. That is enough:
//
//   - Transitions of other nodes touch C only by appending to links into C, and not to empty ones; so neither what C's transitions do
//     nor whether they are possible depends on them, except for budgets, and the other way round C's transitions only append to links
//     out of C. A transition t of C that is possible after others t1 … tn outside C is possible before them, with the same result, and
//     budgets are sums (condition D1 of Valmari's stubborn sets). If packets on a link can still change their order (Config.Reorder),
//     this is not so, and C is all nodes.
//   - C has a transition that costs nothing, and it stays possible whatever others do (D2): a packet at the head of a queue, or a send.
//     So no time-out that waits for quiescence can come before it.
//   - Hence every quiescent state, and every end, that can be reached is still reached. Nothing is put off for ever: if from every state
//     that is looked at an end can be reached by transitions that cost nothing, which progress.go proves, then take any run t1 … tn that
//     leads to a fault. From the state at hand follow the way to the end; where a ti is among C's transitions, the first such is moved
//     to the front, which makes the rest of the run shorter; where none is, the way's transition commutes with all of the run. At the
//     end nothing is possible, so by then the run has been used up, and the faulty transition was looked at. For the same reason an end
//     can be reached from every state of the whole space: after t1 … tn, what is left of the way still leads there. (Valmari, "Stop It,
//     and Be Stubborn!", 2017.)
//
// One thing is put off at a gain: an early time-out may turn into one at the right time, which leaves more of the budget. A state with
// more of a budget can do all that one with less can.
//
// Reduced counts are smaller and diameters longer than those of the whole space: of steps that could come in any order one order is
// taken. A trace is the shortest in the space that was searched; Options.Shortest searches the whole space for one, if that is small.
//
// # Rules known to be wrong
//
// With Config.Bad the engines or hosts follow a rule that was published and fails. Smallest looks for the smallest model that shows one. A search that
// passes says nothing of the rules that its bounds cannot tell from the right ones: Result.Notices lists them. Where no engine would have done
// anything else in any state that was seen, the two spaces are the same; otherwise the model is searched once more with the wrong rule.
//
// # What it does not show
//
// Bounds are small; timers have no durations; corrupted frames, several groups, in-band groups of Mode I or that are parked, Mode I's
// release and whole_messages, hosts that send a control that contradicts the others', and the order of frames inside a switch are for
// verify's scenarios and chaos.
package modelcheck
