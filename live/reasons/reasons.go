// SPDX-License-Identifier: Apache-2.0

// Package reasons puts into words why a group of live stands: what the frames of its endpoints were counted under, and what to do.
package reasons

import (
	"fmt"

	"incforge/inc"
	"incforge/live/groups"
	"incforge/roce"
)

// Fate is how often a counter rose with an endpoint's frames, and the PSN of the last time.
type Fate struct {
	Times int
	PSN   roce.PSN
}

// Fates are by counter.
type Fates map[string]Fate

// Of is what a counter that rises with an endpoint's frames says of the endpoint, and what to do; empty for those that rise because
// others are waited for. known is nil if the engine cannot be looked into.
func Of(counter string, g *groups.Group, fates Fates, known *inc.EndStanding) string {
	switch counter {
	case "DROP_GAP", "DROP_STALE", "RX_DUPLICATE", "DROP_RANGE":
		return strayed(counter, g, fates, known)
	case "DROP_WINDOW":
		return fmt.Sprintf("has more packets under way than the group's window of %d: let its program keep to that, or give the group a larger window", Window(g))
	case "DROP_FULL":
		return fmt.Sprintf("is further ahead of the others than its pipe has room for, and is told to wait: it goes on when they send; let its program keep to the group's window of %d",
			Window(g))
	}
	return map[string]string{
		"DROP_SHAPE": "sends a packet of another kind or length than the others have sent under this PSN: let all send the same sizes in the same messages with one " +
			"path MTU; SoftRoCE also does this by itself if the QP time-out is below 15 (use 17); then reset the group",
		"DROP_BAD_CONTROL":     "asks by its control for what this design or group does not do: compare collective, type, operation and root with the group",
		"DROP_CONTROL":         "contradicts the collective that the others have begun, or has no control where one must be: let all ranks ask for the same, then reset the group",
		"DROP_FOREIGN":         "sends from or to another IP, by another port or with another P_Key than the groups file has: correct the file or the host",
		"DROP_GROUP_DISABLED":  "sends to a group that is not enabled",
		"DROP_RX_ERROR":        "sends frames that arrive damaged",
		"DROP_IP_CHECKSUM":     "sends frames with a wrong IP checksum",
		"DROP_LENGTH_MISMATCH": "sends frames whose lengths contradict each other",
		"DROP_ICRC":            "sends frames with a wrong ICRC: something on the way changes them (see whether a NAT or an offload rewrites headers)",
		"DROP_TVER":            "sends frames of another transport version",
		"DROP_OPCODE":          "sends operations other than SEND on a reliable connection: let its program use SEND",
		"DROP_TOO_LONG":        "sends longer packets than the design takes: set its path MTU to the design's",
		"DROP_BAD_LENGTH":      "sends no whole number of elements, or data in a barrier: compare the type and the collective with the group's",
		"DROP_WRONG_ROLE":      "sends what it may not in this collective: compare root and parent with what its program does",
		"DROP_SYNDROME":        "acknowledges with a syndrome that means nothing",
	}[counter]
}

// Window is how many packets an endpoint of a group may have under way.
func Window(g *groups.Group) int { return 1 << g.Set.Log2N / 2 }

// BegunAnew tells whether data is of a queue pair that was connected anew while the group had gone on. NICs repeat only what is not acknowledged:
// at most a window behind what is expected.
func BegunAnew(counter string, g *groups.Group, psn roce.PSN, known *inc.EndStanding) bool {
	if known == nil {
		return false
	}
	switch ahead := psn.Diff(known.Expected); counter {
	case "DROP_STALE", "RX_DUPLICATE", "DROP_RANGE":
		return ahead < -Window(g)
	case "DROP_GAP": // half of all PSNs and more behind
		return ahead > Window(g) && AtStart(g, psn)
	}
	return false
}

// AtStart tells whether a PSN is in the first window of a queue pair.
func AtStart(g *groups.Group, psn roce.PSN) bool {
	d := psn.Diff(g.Set.Start)
	return d >= 0 && d < Window(g)
}

// strayed is for data that is not what is expected next: a first PSN that is not START, a queue pair that was connected anew, a missing control, or
// packets that are lost again and again. Old data of an endpoint that has got on is a repeat while others are waited for.
func strayed(counter string, g *groups.Group, fates Fates, known *inc.EndStanding) string {
	psn := fates[counter].PSN
	switch {
	case known == nil || fates["DROP_BAD_CONTROL"].Times > 0: // which has said it
		return ""
	case known.Expected == g.Set.Start && psn != g.Set.Start:
		return fmt.Sprintf("sends PSN %v, and none of its data was ever taken: the first PSN of its queue pair must be the group's START %v; connect it anew", psn, g.Set.Start)
	case BegunAnew(counter, g, psn, known):
		if AtStart(g, psn) {
			psn = g.Set.Start
		}
		return fmt.Sprintf("has been connected anew at PSN %v while the group is at %v: reset the group and connect all anew", psn, known.Expected)
	case counter == "DROP_RANGE":
		return fmt.Sprintf("sends data where a control must begin the next collective (PSN %v is expected): let its program send the control first", known.Expected)
	case counter == "DROP_GAP" && fates["DROP_WINDOW"].Times+fates["DROP_FULL"].Times > 0: // what is missing is what there was no room for
		return ""
	case counter == "DROP_GAP" && psn != known.Expected:
		return fmt.Sprintf("sends PSN %v, but %v before it has not arrived and it does not repeat it: see whether its queue pair is in error; then let all begin anew and reset the group",
			psn, known.Expected)
	}
	return ""
}
