// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"incforge/bench"
)

// messageFlags are those of incforge bench throughput for messages of Mode I.
type messageFlags struct {
	bytes, every []int
	mtus         []string
}

func (m *messageFlags) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntSliceVar(&m.bytes, "message", nil, "throughput, Mode I: measure only messages of so many bytes (default message_bytes)")
	f.StringArrayVar(&m.mtus, "mtu", nil, "throughput, Mode I: measure only ranks with these path MTUs in turn, such as 256,4096; may be repeated (default mtu_bytes)")
	f.IntSliceVar(&m.every, "ack-every", nil, "throughput, Mode I: measure only ranks that acknowledge every so-manyth result (default 1)")
}

// loads are what the flags say, for benchmarks of these names.
func (m *messageFlags) loads(names []string) (l bench.MessageLoads, err error) {
	l = bench.MessageLoads{Bytes: m.bytes, Every: m.every}
	for _, list := range m.mtus {
		var mtus []int
		for _, text := range strings.Split(list, ",") {
			mtu, err := strconv.Atoi(text)
			if err != nil {
				return l, usagef("--mtu %s: %q is no number", list, text)
			}
			mtus = append(mtus, mtu)
		}
		l.PathMTUs = append(l.PathMTUs, mtus)
	}
	if len(l.Bytes)+len(l.PathMTUs)+len(l.Every) > 0 && !slices.Equal(names, []string{"throughput"}) {
		return l, usagef("--message, --mtu and --ack-every are of bench throughput alone, not of %q", strings.Join(names, " "))
	}
	return l, nil
}
