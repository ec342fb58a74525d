// SPDX-License-Identifier: Apache-2.0

package params

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"pgregory.net/rapid"
)

// base is a complete legal file; the tests spoil one line or another of it.
const base = `name: mini
mode: 2
bus_bytes: 8
lanes: 2
dtypes: [INT32]
ops: [SUM]
accumulate: in_place
buffer_bytes: 16384
groups: 2
members: 4
ports: 4
mtu_bytes: 1024
window_packets: 4
clock_mhz: 250
icrc_check: true
memory: auto
technology: fpga
adder_stages: 0
ecc: false
payload_banks: 1
in_band: true
`

// spoil replaces the line of the key, keeping its number; an empty line removes the key.
func spoil(t testing.TB, text string, lines ...string) string {
	t.Helper()
	for _, l := range lines {
		key, _, found := strings.Cut(l, ":")
		require.True(t, found, l)
		all := strings.Split(text, "\n")
		hit := false
		for i := range all {
			if strings.HasPrefix(all[i], key+":") {
				all[i], hit = l, true
			}
		}
		require.True(t, hit, "no line for %q", key)
		text = strings.Join(all, "\n")
	}
	return text
}

// oneKey are the spoilt lines that are illegal by themselves, with the message. at is the column.
func oneKey() []struct{ line, want string } {
	const name = "letters, digits and single underscores, beginning with a letter, at most 48 characters, no Verilog keyword"
	return []struct{ line, want string }{
		{`name: always_ff`, `1:7: name: always_ff: must be ` + name + `: this is a keyword of Verilog or SystemVerilog`},
		{`name: inc_x`, `1:7: name: inc_x: must be ` + name + `: names beginning with inc_ belong to the module library`},
		{`name: inc`, `1:7: name: inc: must be ` + name + `: names beginning with inc_ belong to the module library`},
		{`name: 4x`, `1:7: name: 4x: must be ` + name + `: it becomes part of module, file and symbol names`},
		{`name: a__b`, `1:7: name: a__b: must be ` + name + `: it becomes part of module, file and symbol names`},
		{`name: "a b"`, `1:7: name: a b: must be ` + name + `: it becomes part of module, file and symbol names`},
		{`name: ../x`, `1:7: name: ../x: must be ` + name + `: it becomes part of module, file and symbol names`},
		{`name: ""`, `1:7: name: "": must be ` + name + `: it becomes part of module, file and symbol names`},
		{`name: n234567890123456789012345678901234567890123456789`, `1:7: name: n234567890123456789012345678901234567890123456789: must be ` + name + `: file and symbol names grow from it`},
		{`name: 7`, `1:7: name: 7: must be a string: this is an integer`},
		{`name: true`, `1:7: name: true: must be a string: this is true or false`},
		{`name:`, `1:1: name: must be a string: this is nothing`},
		{`mode: 0`, `2:7: mode: 0: must be from 1 to 3: EPIC has these modes`},
		{`mode: 4`, `2:7: mode: 4: must be from 1 to 3: EPIC has these modes`},
		{`mode: II`, `2:7: mode: II: must be an integer: this is a string`},
		{`mode: 2.0`, `2:7: mode: 2.0: must be an integer: this is a number with a fraction`},
		{`mode: 02`, `2:7: mode: 02: must be an integer: a leading zero makes it octal for some readers and decimal for others`},
		{`mode: "2"`, `2:7: mode: "2": must be an integer: this is a string`},
		{`mode: !!int "2"`, `2:7: mode: !!int "2": must be an integer: this is a YAML feature that parameter files do not use`},
		{`bus_bytes: 4`, `3:12: bus_bytes: 4: must be a power of two from 8 to 2048: a payload must be a whole number of beats and a beat a whole number of elements`},
		{`bus_bytes: 24`, `3:12: bus_bytes: 24: must be a power of two from 8 to 2048: a payload must be a whole number of beats and a beat a whole number of elements`},
		{`bus_bytes: 0`, `3:12: bus_bytes: 0: must be a power of two from 8 to 2048: a payload must be a whole number of beats and a beat a whole number of elements`},
		{`bus_bytes: -8`, `3:12: bus_bytes: -8: must be a power of two from 8 to 2048: a payload must be a whole number of beats and a beat a whole number of elements`},
		{`bus_bytes: 4096`, `3:12: bus_bytes: 4096: must be a power of two from 8 to 2048: the largest payload, 4096 bytes, is two beats of 2048`},
		{`lanes: 3`, `4:8: lanes: 3: must be a power of two from 2 to 512: a beat is split evenly among them, and more than 512 are not built`},
		{`lanes: 1`, `4:8: lanes: 1: must be a power of two from 2 to 512: a beat is split evenly among them, and more than 512 are not built`},
		{`lanes: 1024`, `4:8: lanes: 1024: must be a power of two from 2 to 512: a beat is split evenly among them, and more than 512 are not built`},
		{`dtypes: [FP32, FP64]`, `5:9: dtypes: [FP32, FP64]: must be a list of one or more of FP32, FP16, BF16, INT32: there is no FP64; did you mean "FP32"?`},
		{`dtypes: [INT32, FP32, INT32]`, `5:9: dtypes: [FP32, INT32, INT32]: must be a list of one or more of FP32, FP16, BF16, INT32: INT32 is there twice`},
		{`dtypes: []`, `5:9: dtypes: []: must be a list of one or more of FP32, FP16, BF16, INT32: an engine without an element type computes nothing`},
		{`dtypes: INT32`, `5:9: dtypes: INT32: must be a list of names: this is a string`},
		{`dtypes: [INT32, 3]`, `5:9: dtypes: [INT32, 3]: must be a list of names: one entry is an integer`},
		{`ops: [SUM, PROD]`, `6:6: ops: [SUM, PROD]: must be a list of one or more of SUM, MIN, MAX: there is no PROD`},
		{`ops: [sum]`, `6:6: ops: [sum]: must be a list of one or more of SUM, MIN, MAX: there is no sum; did you mean "SUM"?`},
		{`ops: [SUM, SUM]`, `6:6: ops: [SUM, SUM]: must be a list of one or more of SUM, MIN, MAX: SUM is there twice`},
		{`ops: []`, `6:6: ops: []: must be a list of one or more of SUM, MIN, MAX: an engine without a reduction computes nothing`},
		{`ops: {SUM: 1}`, `6:6: ops: {SUM: 1}: must be a list of names: this is a mapping`},
		{`accumulate: inplace`, `7:13: accumulate: inplace: must be in_place or reproducible: these are the orders of addition; did you mean "in_place"?`},
		{`buffer_bytes: 0`, `8:15: buffer_bytes: 0: must be from 512 to 268435456: a slot is one MTU of payload, and a group needs two slots for each packet of the window`},
		{`buffer_bytes: 16 KB`, `8:15: buffer_bytes: 16 KB: must be an integer: this is a string`},
		{`buffer_bytes: 99999999999999999999`, `8:15: buffer_bytes: 99999999999999999999: must be an integer: this is a string`},
		{`buffer_bytes: 18446744073709551615`, `8:15: buffer_bytes: 18446744073709551615: must be from 512 to 268435456: a slot is one MTU of payload, and a group needs two slots for each packet of the window`},
		{`buffer_bytes: -9223372036854775808`, `8:15: buffer_bytes: -9223372036854775808: must be from 512 to 268435456: a slot is one MTU of payload, and a group needs two slots for each packet of the window`},
		{`groups: 0`, `9:9: groups: 0: must be from 1 to 64: the register map has room for 64 groups`},
		{`groups: 65`, `9:9: groups: 65: must be from 1 to 64: the register map has room for 64 groups`},
		{`members: 0`, `10:10: members: 0: must be from 1 to 16: the endpoint mask of a slot has at most 17 bits`},
		{`members: 17`, `10:10: members: 17: must be from 1 to 16: the endpoint mask of a slot has at most 17 bits`},
		{`ports: 0`, `11:8: ports: 0: must be from 1 to 32: the arbiter in front of the core takes at most 32 streams`},
		{`ports: 33`, `11:8: ports: 33: must be from 1 to 32: the arbiter in front of the core takes at most 32 streams`},
		{`mtu_bytes: 128`, `12:12: mtu_bytes: 128: must be a power of two from 256 to 4096: these are the path MTUs of InfiniBand and RoCE`},
		{`mtu_bytes: 1500`, `12:12: mtu_bytes: 1500: must be a power of two from 256 to 4096: these are the path MTUs of InfiniBand and RoCE`},
		{`mtu_bytes: 8192`, `12:12: mtu_bytes: 8192: must be a power of two from 256 to 4096: these are the path MTUs of InfiniBand and RoCE`},
		{`window_packets: 0`, `13:17: window_packets: 0: must be a power of two from 1 to 1024: a group's slots, 2·window_packets, are a power of two`},
		{`window_packets: 3`, `13:17: window_packets: 3: must be a power of two from 1 to 1024: a group's slots, 2·window_packets, are a power of two`},
		{`window_packets: 2048`, `13:17: window_packets: 2048: must be a power of two from 1 to 1024: a group's slots, 2·window_packets, are a power of two`},
		{`clock_mhz: 0`, `14:12: clock_mhz: 0: must be from 1 to 2000: constraints and reports are made for clocks in this range`},
		{`clock_mhz: 2001`, `14:12: clock_mhz: 2001: must be from 1 to 2000: constraints and reports are made for clocks in this range`},
		{`clock_mhz: .inf`, `14:12: clock_mhz: .inf: must be an integer: this is a number with a fraction`},
		{`icrc_check: yes`, `15:13: icrc_check: yes: must be true or false: this is a string`},
		{`icrc_check: 1`, `15:13: icrc_check: 1: must be true or false: this is an integer`},
		{`icrc_check: # later`, `15:1: icrc_check: must be true or false: this is nothing`},
		{`memory: rams`, `16:9: memory: rams: must be auto, ram or registers: these are the ways to build an array; did you mean "ram"?`},
		{`memory: [ram]`, `16:9: memory: [ram]: must be a string: this is a list`},
		{`memory: *m`, `16:9: memory: *m: must be a string: this is a YAML feature that parameter files do not use`},
		{`technology: cpld`, `17:13: technology: cpld: must be fpga or asic: the adders' depth is known for these`},
		{`adder_stages: 7`, `18:15: adder_stages: 7: must be from 0 to 6: a floating-point addition has 6 steps that a register can part; 0 leaves the choice to clock_mhz`},
		{`adder_stages: -1`, `18:15: adder_stages: -1: must be from 0 to 6: a floating-point addition has 6 steps that a register can part; 0 leaves the choice to clock_mhz`},
		{`adder_stages: auto`, `18:15: adder_stages: auto: must be an integer: this is a string`},
		{`ecc: secded`, `19:6: ecc: secded: must be true, false or all: this is a string`},
		{`payload_banks: 0`, `20:16: payload_banks: 0: must be a power of two from 1 to 16: the lowest bits of a row's address choose the bank`},
		{`payload_banks: 3`, `20:16: payload_banks: 3: must be a power of two from 1 to 16: the lowest bits of a row's address choose the bank`},
		{`in_band: on`, `21:10: in_band: on: must be true or false: this is a string`},
		{`payload_banks: 32`, `20:16: payload_banks: 32: must be a power of two from 1 to 16: the lowest bits of a row's address choose the bank`},
	}
}

func TestOneBadKey(t *testing.T) {
	t.Parallel()
	schema := compileSchema(t)
	for _, c := range oneKey() {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			text := spoil(t, base, c.line)
			p, err := Parse("x.yaml", []byte(text))
			problems := asProblems(t, err)
			require.Len(t, problems, 1, err.Error())
			assert.Equal(t, "x.yaml:"+c.want, problems[0].Error())
			assert.Equal(t, c.line, problems[0].Source)
			assert.Zero(t, p)

			// The schema refuses it too, where it can: keywords, lengths, anchors and YAML's spelling of numbers are beyond it.
			beyond := []string{"name: always", "name: inc", "name: n23", "mode: 02", "mode: 2.0", "mode: !!int", "clock_mhz: .inf", "memory: *m"}
			for _, b := range beyond {
				if strings.HasPrefix(c.line, b) {
					return
				}
			}
			require.Error(t, schema.Validate(generic(t, []byte(text))), "the schema accepts what Validate refuses")
		})
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		sets       []string
		want       string
	}{
		{"lanes without work", spoil(t, base, "lanes: 4"), nil,
			`x.yaml:4:8: lanes: 4: must be at most 2 for bus_bytes 8 and accumulate in_place: with 2 lanes a beat of 32-bit elements takes 1 cycle: more would stand idle, and there is no 16-bit type to use them
    4 | lanes: 4
      |        ^`},
		{"lanes without work, 16-bit types", spoil(t, base, "lanes: 8", "dtypes: [FP32, BF16]"), nil,
			`x.yaml:4:8: lanes: 8: must be at most 4 for bus_bytes 8 and accumulate in_place: with 4 lanes a beat of 16-bit elements takes 1 cycle: more would stand idle
    4 | lanes: 8
      |        ^`},
		{"a tree where there is none", base, []string{"eager_tree=true"},
			`--set eager_tree=true: eager_tree: true: must be false with accumulate: in_place: sums in the order of arrival have no tree`},
		{"lanes without work, reproducible", spoil(t, base, "lanes: 8", "dtypes: [FP32, BF16]", "accumulate: reproducible"), nil,
			`x.yaml:4:8: lanes: 8: must be at most 4 for bus_bytes 8 and accumulate reproducible: half of 4 lanes add pairs and half reduce the tree, and a beat of 32-bit elements takes 1 cycle: more would stand idle
    4 | lanes: 8
      |        ^`},
		{"a bus wider than half a payload", base, []string{"mtu_bytes=256", "bus_bytes=256"},
			`--set bus_bytes=256: bus_bytes: 256: must be at most 128, half of mtu_bytes (256): a payload of the MTU is two beats at least: the number of a beat within it has a bit or more`},
		{"a port wider than the bus", base, []string{"port_bytes=16"},
			`--set port_bytes=16: port_bytes: 16: must be at most 8, bus_bytes: a beat of the bus is made of those of a port`},
		{"queues that are not there and drop", base, []string{"port_drop=true"},
			`--set port_drop=true: port_drop: true: must be false without port_bytes: there are no queues that could be full`},
		{"frames that leave before they are whole, by ports that store none", base, []string{"port_cut_through=true"},
			`--set port_cut_through=true: port_cut_through: true: must be false without port_bytes: a port without queues stores no frame`},
		{"frames that leave before a tree has their words", base, []string{"port_bytes=2", "port_cut_through=true", "accumulate=reproducible"},
			`--set port_cut_through=true: port_cut_through: true: must be false with accumulate: reproducible: a row of a tree takes as many cycles as it has pairs, and a port would run dry`},
		{"frames that leave before a bank has their words", base, []string{"port_bytes=2", "port_cut_through=true", "payload_banks=2"},
			`--set port_cut_through=true: port_cut_through: true: must be false with payload_banks: 2: a word waits for the bank that is being written, and a port would run dry`},
		{"ports faster than the bus", base, []string{"port_bytes=8", "port_cut_through=true", "port_clock_mhz=[250, 250, 250.1, 250]"},
			`--set port_cut_through=true: port_cut_through: true: must be false with these widths and clocks: the engine may take 1 cycles for a word of 8 bytes, and a port sends one in 0.9996: it would run dry`},
		{"a clock without queues", base, []string{"port_clock_mhz=100"},
			`--set port_clock_mhz=100: port_clock_mhz: [100]: must be left out without port_bytes: clocks meet in the ports' queues`},
		{"widths for other ports", base, []string{"port_bytes=2", "port_widths=[1, 2]"},
			`--set port_widths=[1, 2]: port_widths: [1, 2]: must be 4 numbers: a width is that of one port`},
		{"a port wider than the widest", base, []string{"port_bytes=2", "port_widths=[1, 2, 4, 2]"},
			`--set port_widths=[1, 2, 4, 2]: port_widths: [1, 2, 4, 2]: must be at most 2, port_bytes: that is the widest port that there may be; without it ports have no queues`},
		{"half a byte", base, []string{"port_bytes=2", "port_widths=[0.5, 2, 2, 2]"},
			`--set port_widths=[0.5, 2, 2, 2]: port_widths: [0.5, 2, 2, 2]: must be powers of two from 1 to 2048: a beat of the bus is a whole number of beats of a port`},
		{"clocks for other ports", base, []string{"port_bytes=2", "port_clock_mhz=[1, 2]"},
			`--set port_clock_mhz=[1, 2]: port_clock_mhz: [1, 2]: must be one number, or 4: a clock is that of all ports, or of one`},
		{"a clock too slow", base, []string{"port_bytes=2", "port_clock_mhz=0.5"},
			`--set port_clock_mhz=0.5: port_clock_mhz: [0.5]: must be numbers from 1 to 2000: constraints and reports are made for clocks in this range`},
		{"nine engines", base, []string{"engines=9"},
			`--set engines=9: engines: 9: must be from 1 to 8: three bits of a queue pair number name the engine`},
		{"several engines with three groups", base, []string{"engines=2", "groups=3"},
			`--set groups=3: groups: 3: must be a power of two with engines: 2: the bits of a queue pair number above those that name the group name the engine`},
		{"a clock in words", base, []string{"port_bytes=2", "port_clock_mhz=fast"},
			`--set port_clock_mhz=fast: port_clock_mhz: [fast]: must be a list of numbers: one entry is a string`},
		{"tags in words", base, []string{"vlan=trunk"},
			`--set vlan=trunk: vlan: trunk: must be true or false: this is a string`},
		{"a port of six bytes", base, []string{"port_bytes=6"},
			`--set port_bytes=6: port_bytes: 6: must be 0, or a power of two from 1 to 2048: a beat of the bus is a whole number of beats of a port`},
		{"buffer that is no whole number of packets", spoil(t, base, "buffer_bytes: 16000"), nil,
			`x.yaml:8:15: buffer_bytes: 16000: must be a multiple of mtu_bytes (1024): it is made of places for one MTU of payload
    8 | buffer_bytes: 16000
      |               ^`},
		{"buffer too small for one group", spoil(t, base, "buffer_bytes: 7168"), nil,
			`x.yaml:8:15: buffer_bytes: 7168: must be at least 8192, 2 · window_packets (4) · mtu_bytes (1024): not one group would fit
    8 | buffer_bytes: 7168
      |               ^`},
		{"buffer too small for one group of a 16-bit type", spoil(t, base, "buffer_bytes: 15360", "dtypes: [FP16, BF16]"), nil,
			`x.yaml:8:15: buffer_bytes: 15360: must be at least 16384, 2 slots of FP32 a packet of a 16-bit type · 2 · window_packets (4) · mtu_bytes (1024): not one group would fit
    8 | buffer_bytes: 15360
      |               ^`},
		{"buffer too small for one reproducible group", spoil(t, base, "buffer_bytes: 23552", "members: 5", "accumulate: reproducible"), nil,
			`x.yaml:8:15: buffer_bytes: 23552: must be at least 24576, 2 · window_packets (4) · mtu_bytes (1024) · 3 payloads, one for every pair of members (5): not one group would fit
    8 | buffer_bytes: 23552
      |               ^`},
		{"buffer too small for anything", spoil(t, base, "buffer_bytes: 23552", "dtypes: [BF16]", "accumulate: reproducible"), nil,
			`x.yaml:8:15: buffer_bytes: 23552: must be at least 32768, 2 slots of FP32 a packet of a 16-bit type · 2 · window_packets (4) · mtu_bytes (1024) · 2 payloads, one for every pair of members (4): not one group would fit
    8 | buffer_bytes: 23552
      |               ^`},
		{"more reproducible slots than slot numbers", spoil(t, base, "buffer_bytes: 67108864", "mtu_bytes: 256", "members: 5", "accumulate: reproducible"), nil,
			`x.yaml:8:15: buffer_bytes: 67108864: must be at most 50332160, 65536 slots of mtu_bytes (256) · 3 payloads, one for every pair of members (5): slot numbers have at most 16 bits
    8 | buffer_bytes: 67108864
      |               ^`},
		{"banks of flip-flops", spoil(t, base, "memory: registers", "payload_banks: 4"), nil,
			`x.yaml:20:16: payload_banks: 4: must be 1 with memory: registers: banks make up for memories of a single port, and flip-flops have as many ports as they are given
   20 | payload_banks: 4
      |                ^`},
		{"banks of one row", spoil(t, base, "bus_bytes: 128", "lanes: 32", "mtu_bytes: 256", "buffer_bytes: 768", "window_packets: 1", "payload_banks: 4"), nil,
			`x.yaml:20:16: payload_banks: 4: must be at most half of the 6 rows of the payload memory: a bank is a memory of two rows or more
   20 | payload_banks: 4
      |                ^`},
		{"a clock that no adder keeps", spoil(t, base, "dtypes: [FP32, INT32]", "clock_mhz: 311"), nil,
			`x.yaml:14:12: clock_mhz: 311: must be at most 310 with technology: fpga and adder_stages: 0: a floating-point adder of 6 stages, the most there are, reaches no more; adder_stages from 1 to 6 is taken at any clock
   14 | clock_mhz: 311
      |            ^`},
		{"a clock that no adder keeps in silicon", spoil(t, base, "dtypes: [BF16]", "clock_mhz: 1821", "technology: asic"), nil,
			`x.yaml:14:12: clock_mhz: 1821: must be at most 1820 with technology: asic and adder_stages: 0: a floating-point adder of 6 stages, the most there are, reaches no more; adder_stages from 1 to 6 is taken at any clock
   14 | clock_mhz: 1821
      |            ^`},
		{"more slots than slot numbers", spoil(t, base, "buffer_bytes: 33554432", "mtu_bytes: 256"), nil,
			`x.yaml:8:15: buffer_bytes: 33554432: must be at most 16777216, 65536 slots of mtu_bytes (256): slot numbers have at most 16 bits
    8 | buffer_bytes: 33554432
      |               ^`},
		{"a big buffer of flip-flops", spoil(t, base, "buffer_bytes: 131072", "memory: registers"), nil,
			`x.yaml:8:15: buffer_bytes: 131072: must be at most 65536 with memory: registers: tools do not finish on more flip-flops; use memory: ram
    8 | buffer_bytes: 131072
      |               ^`},
		{"misspelt key", strings.Replace(base, "bus_bytes", "bus_byte", 1), nil,
			`x.yaml:3:1: bus_byte: there is no such parameter; did you mean "bus_bytes"?
    3 | bus_byte: 8
      | ^
x.yaml: bus_bytes: must be a power of two from 8 to 2048: the key is missing`},
		{"unknown key", base + "colour: red\n", nil,
			`x.yaml:22:1: colour: there is no such parameter; there are name, mode, bus_bytes, lanes, dtypes, ops, accumulate, buffer_bytes, groups, members, ports, mtu_bytes, window_packets, message_bytes, window_messages, whole_messages, no_releases, hop_rtt_ns, clock_mhz, icrc_check, memory, technology, adder_stages, decision_stages, ecc, payload_banks, in_band, park, eager_tree, port_bytes, port_widths, port_drop, port_cut_through, port_clock_mhz, vlan, priorities, interrupts, memory_pins, engines
   22 | colour: red
      | ^`},
		{"key in other case", strings.Replace(base, "memory", "Memory", 1), nil,
			`x.yaml:16:1: Memory: there is no such parameter; did you mean "memory"?
   16 | Memory: auto
      | ^`},
		{"key twice", base + "groups: 3\n", nil,
			`x.yaml:22:1: groups: the key is given twice, first in line 9
   22 | groups: 3
      | ^`},
		{"key twice is no matter of values", base + "groups: 3\n", []string{"groups=4"},
			`x.yaml:22:1: groups: the key is given twice, first in line 9
   22 | groups: 3
      | ^`},
		{"merge key", base + "<<: {groups: 3}\n", nil,
			`x.yaml:22:1: <<: there is no such parameter; there are name, mode, bus_bytes, lanes, dtypes, ops, accumulate, buffer_bytes, groups, members, ports, mtu_bytes, window_packets, message_bytes, window_messages, whole_messages, no_releases, hop_rtt_ns, clock_mhz, icrc_check, memory, technology, adder_stages, decision_stages, ecc, payload_banks, in_band, park, eager_tree, port_bytes, port_widths, port_drop, port_cut_through, port_clock_mhz, vlan, priorities, interrupts, memory_pins, engines
   22 | <<: {groups: 3}
      | ^`},
		{"several at once, in the order of the file", spoil(t, base, "mode: 7", "memory: disk", "groups: 0", "buffer_bytes: 100000"), []string{"ports=99"},
			`x.yaml:2:7: mode: 7: must be from 1 to 3: EPIC has these modes
    2 | mode: 7
      |       ^
x.yaml:8:15: buffer_bytes: 100000: must be a multiple of mtu_bytes (1024): it is made of places for one MTU of payload
    8 | buffer_bytes: 100000
      |               ^
x.yaml:9:9: groups: 0: must be from 1 to 64: the register map has room for 64 groups
    9 | groups: 0
      |         ^
x.yaml:16:9: memory: disk: must be auto, ram or registers: these are the ways to build an array
   16 | memory: disk
      |         ^
--set ports=99: ports: 99: must be from 1 to 32: the arbiter in front of the core takes at most 32 streams`},
		{"one mistake, one message", spoil(t, base, "mtu_bytes: 1000"), nil,
			`x.yaml:12:12: mtu_bytes: 1000: must be a power of two from 256 to 4096: these are the path MTUs of InfiniBand and RoCE
   12 | mtu_bytes: 1000
      |            ^`},
		{"bus refused, lanes left out", strings.Replace(spoil(t, base, "bus_bytes: 48"), "lanes: 2\n", "", 1), nil,
			`x.yaml:3:12: bus_bytes: 48: must be a power of two from 8 to 2048: a payload must be a whole number of beats and a beat a whole number of elements
    3 | bus_bytes: 48
      |            ^`},
		{"missing keys", "name: x\n", nil,
			`x.yaml: bus_bytes: must be a power of two from 8 to 2048: the key is missing
x.yaml: buffer_bytes: must be from 512 to 268435456: the key is missing
x.yaml: groups: must be from 1 to 64: the key is missing
x.yaml: members: must be from 1 to 16: the key is missing
x.yaml: ports: must be from 1 to 32: the key is missing
x.yaml: mtu_bytes: must be a power of two from 256 to 4096: the key is missing
x.yaml: window_packets: must be a power of two from 1 to 1024: the key is missing
x.yaml: clock_mhz: must be from 1 to 2000: the key is missing`},
		{"empty file", "", nil, `x.yaml: the file is empty: a list of key: value lines was expected`},
		{"only comments", "# nothing\n", nil, `x.yaml: the file is empty: a list of key: value lines was expected`},
		{"a list", "- a\n- b\n", nil,
			`x.yaml:1:1: the file is a list: a list of key: value lines was expected
    1 | - a
      | ^`},
		{"a word", "mini\n", nil,
			`x.yaml:1:1: the file is a string: a list of key: value lines was expected
    1 | mini
      | ^`},
		{"two documents", base + "---\nname: other\n", nil,
			`x.yaml:23:5: a second document: a parameter file holds one
   23 | name: other
      |     ^`},
		{"a tab", base + "\tgroups: 2\n", nil,
			`x.yaml:22:1: not YAML: found character '	' that cannot start any token
   22 | 	groups: 2
      | ^`},
		{"an open bracket", "name: [\nmode: 2\n", nil,
			`x.yaml:1:7: not YAML: sequence end token ']' not found
    1 | name: [
      |       ^`},
		{"CRLF line ends", strings.ReplaceAll(spoil(t, base, "groups: 99"), "\n", "\r\n"), nil,
			`x.yaml:9:9: groups: 99: must be from 1 to 64: the register map has room for 64 groups
    9 | groups: 99
      |         ^`},
		{"set of nothing", base, []string{"groups"}, `--set groups: groups: must be key=value: there is no value`},
		{"set of no key", base, []string{"=3"}, `--set =3: must be key=value: there is no value`},
		{"set of an empty value", base, []string{"groups="}, `--set groups=: groups: must be an integer: it is empty`},
		{"set of an unknown key", base, []string{"group=3"}, `--set group=3: group: there is no such parameter; did you mean "groups"?`},
		{"set of the wrong type", base, []string{"icrc_check=no"}, `--set icrc_check=no: icrc_check: no: must be true or false: this is a string`},
		{"set of a list", base, []string{"ops=SUM,AVG"}, `--set ops=SUM,AVG: ops: [SUM, AVG]: must be a list of one or more of SUM, MIN, MAX: there is no AVG`},
		{"set of no YAML", base, []string{"ops=[SUM"}, `--set ops=[SUM: not YAML: sequence end token ']' not found`},
		{"set makes the file's value illegal", base, []string{"bus_bytes=64", "lanes=32", "accumulate=reproducible", "mtu_bytes=4096"},
			`x.yaml:8:15: buffer_bytes: 16384: must be at least 65536, 2 · window_packets (4) · mtu_bytes (4096) · 2 payloads, one for every pair of members (4): not one group would fit
    8 | buffer_bytes: 16384
      |               ^`},
		{"a key of Mode III in Mode II", base + "hop_rtt_ns: 2000\n", nil,
			`x.yaml:22:13: hop_rtt_ns: 2000: must be left out with mode 2: only modes 1 and 3 have it
   22 | hop_rtt_ns: 2000
      |             ^`},
		{"a key of Mode III in a mode that is refused", spoil(t, base, "mode: 7") + "hop_rtt_ns: 0\n", nil,
			`x.yaml:2:7: mode: 7: must be from 1 to 3: EPIC has these modes
    2 | mode: 7
      |       ^`},
		{"a hop of no time", spoil(t, base, "mode: 3") + "hop_rtt_ns: 0\n", nil,
			`x.yaml:22:13: hop_rtt_ns: 0: must be from 1 to 8000000: PIPE_TIMEOUT holds at most 65,535 µs
   22 | hop_rtt_ns: 0
      |             ^`},
		{"a hop of too much time", spoil(t, base, "mode: 3"), []string{"hop_rtt_ns=8000001"},
			`--set hop_rtt_ns=8000001: hop_rtt_ns: 8000001: must be from 1 to 8000000: PIPE_TIMEOUT holds at most 65,535 µs`},
		{"a message of less than a packet", spoil(t, base, "mode: 1") + "message_bytes: 512\n", nil,
			`x.yaml:22:16: message_bytes: 512: must be at least 1024, mtu_bytes: the shortest message is one packet
   22 | message_bytes: 512
      |                ^`},
		{"too little memory for messages", spoil(t, base, "mode: 1") + "message_bytes: 8192\n", nil,
			`x.yaml:8:15: buffer_bytes: 16384: must be at least 32768, 2 · window_messages (2) · message_bytes (8192): not one group would fit
    8 | buffer_bytes: 16384
      |               ^`},
		{"a key of Mode I in Mode II", base, []string{"window_messages=4"},
			`--set window_messages=4: window_messages: 4: must be left out with mode 2: only mode 1 has it`},
		{"accumulate refused, lanes left out", strings.Replace(spoil(t, base, "accumulate: any"), "lanes: 2\n", "", 1), nil,
			`x.yaml:6:13: accumulate: any: must be in_place or reproducible: these are the orders of addition
    6 | accumulate: any
      |             ^`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := Parse("x.yaml", []byte(c.text), c.sets...)
			require.Error(t, err)
			if d := cmp.Diff(c.want, err.Error()); d != "" {
				t.Errorf("message (-want +got):\n%s", d)
			}
			assert.Zero(t, p)
		})
	}
}

func asProblems(t testing.TB, err error) Problems {
	t.Helper()
	var p Problems
	require.True(t, errors.As(err, &p), "error %v is no Problems", err)
	return p
}

func TestGoodInput(t *testing.T) {
	t.Parallel()
	mini := Params{Name: "mini", Mode: 2, BusBytes: 8, Lanes: 2, DTypes: []DType{contract.INT32}, Ops: []Op{contract.SUM}, Accumulate: InPlace,
		BufferBytes: 16384, Groups: 2, Members: 4, Ports: 4, MTUBytes: 1024, WindowPackets: 4, ClockMHz: 250, ICRCCheck: true, Memory: MemoryAuto,
		Technology: FPGA, PayloadBanks: 1, InBand: true, Priorities: 1, Engines: 1}
	with := func(change func(*Params)) Params {
		p := mini
		change(&p)
		return p
	}
	short := "name: mini\nbus_bytes: 8\nbuffer_bytes: 16384\ngroups: 2\nmembers: 4\nports: 4\nmtu_bytes: 1024\nwindow_packets: 4\nclock_mhz: 250\n"
	cases := []struct {
		name, text string
		sets       []string
		want       Params
	}{
		{"every key", base, nil, mini},
		{"defaults", short, nil, mini},
		{"Mode III", base, []string{"mode=3"}, with(func(p *Params) { p.Mode, p.HopRTTNS = 3, 2000 })},
		{"Mode III with its key", spoil(t, base, "mode: 3") + "hop_rtt_ns: 1\n", nil, with(func(p *Params) { p.Mode, p.HopRTTNS = 3, 1 })},
		{"Mode I", base, []string{"mode=1"}, with(func(p *Params) { p.Mode, p.HopRTTNS, p.MessageBytes, p.WindowMessages = 1, 2000, 4096, 2 })},
		{"Mode I taken back", spoil(t, base, "mode: 1"), []string{"mode=2"}, mini},
		{"Mode III taken back", spoil(t, base, "mode: 3"), []string{"mode=2"}, mini},
		{"byte order mark", "\ufeff" + base, nil, mini},
		{"flow style", "{" + strings.ReplaceAll(strings.TrimSpace(short), "\n", ", ") + "}", nil, mini},
		{"document marks", "---\n" + base + "...\n", nil, mini},
		{"quoted key and value", strings.Replace(base, "name: mini", `"name": 'mini'`, 1), nil, mini},
		{"hexadecimal", spoil(t, base, "buffer_bytes: 0x4000"), nil, mini},
		{"block list", strings.Replace(base, "ops: [SUM]", "ops:\n  - SUM", 1), nil, mini},
		{"name that YAML would read as a number", spoil(t, base, `name: "e1"`), nil, with(func(p *Params) { p.Name = "e1" })},
		{"lanes follow a set bus", short, []string{"bus_bytes=64"}, with(func(p *Params) { p.BusBytes, p.Lanes = 64, 16 })},
		{"the last set wins", base, []string{"groups=0", "groups=two", "groups= 3 "}, with(func(p *Params) { p.Groups = 3 })},
		{"set repairs a bad line", spoil(t, base, "groups: two"), []string{"groups=3"}, with(func(p *Params) { p.Groups = 3 })},
		{"set repairs a missing key", strings.Replace(base, "groups: 2\n", "", 1), []string{"groups=2"}, mini},
		{"set of lists", base, []string{"ops=SUM", "dtypes=[INT32]"}, mini},
		{"types and operations in any order", base, []string{"dtypes=INT32,BF16,FP32", "ops=[MAX, SUM]"},
			with(func(p *Params) {
				p.DTypes, p.Ops = []DType{contract.FP32, contract.BF16, contract.INT32}, []Op{contract.SUM, contract.MAX}
			})},
		{"lanes follow reproducible", short, []string{"accumulate=reproducible"}, with(func(p *Params) { p.Accumulate, p.Lanes = Reproducible, 4 })},
		{"lanes follow a wide bus", short, []string{"bus_bytes=1024", "mtu_bytes=2048"},
			with(func(p *Params) { p.BusBytes, p.Lanes, p.MTUBytes = 1024, 256, 2048 })},
		{"lanes follow the widest bus, reproducible", short, []string{"bus_bytes=2048", "mtu_bytes=4096", "buffer_bytes=65536", "accumulate=reproducible"},
			with(func(p *Params) {
				p.BusBytes, p.Lanes, p.MTUBytes, p.BufferBytes, p.Accumulate = 2048, 512, 4096, 65536, Reproducible
			})},
		{"lanes for a 16-bit beat in one cycle", base, []string{"lanes=4", "dtypes=FP16"}, with(func(p *Params) { p.Lanes, p.DTypes = 4, []DType{contract.FP16} })},
		{"fewer lanes than the bus", base, []string{"bus_bytes=64", "lanes=2"}, with(func(p *Params) { p.BusBytes = 64 })},
		{"a clock above the table with the stages given", base, []string{"dtypes=FP32", "clock_mhz=2000", "adder_stages=1"},
			with(func(p *Params) { p.DTypes, p.ClockMHz, p.AdderStages = []DType{contract.FP32}, 2000, 1 })},
		{"ports with queues", base, []string{"port_bytes=2", "port_drop=true"}, with(func(p *Params) { p.PortBytes, p.PortDrop = 2, true })},
		{"four engines", base, []string{"engines=4"}, with(func(p *Params) { p.Engines = 4 })},
		{"ports as wide as the bus, with queues", base, []string{"port_bytes=8"}, with(func(p *Params) { p.PortBytes = 8 })},
		{"ports with a clock", base, []string{"port_bytes=2", "port_clock_mhz=322.265625"},
			with(func(p *Params) { p.PortBytes, p.PortClockMHz = 2, []float64{322.265625} })},
		{"a clock a port", base, []string{"port_bytes=2", "port_clock_mhz=[100, 156.25, 400, 50]"},
			with(func(p *Params) { p.PortBytes, p.PortClockMHz = 2, []float64{100, 156.25, 400, 50} })},
		{"a width a port", base, []string{"port_bytes=8", "port_widths=[8, 2, 1, 4]"},
			with(func(p *Params) { p.PortBytes, p.PortWidths = 8, []float64{8, 2, 1, 4} })},
		{"queues taken away again", base, []string{"port_bytes=8", "port_bytes=0"}, mini},
		{"silicon", base, []string{"technology=asic", "ecc=true", "payload_banks=16", "in_band=false"},
			with(func(p *Params) { p.Technology, p.ECC, p.PayloadBanks, p.InBand = ASIC, true, 16, false })},
		{"places that make no whole slot", base, []string{"members=5", "accumulate=reproducible", "buffer_bytes=25600", "lanes=4"},
			with(func(p *Params) { p.Members, p.Accumulate, p.BufferBytes, p.Lanes = 5, Reproducible, 25600, 4 })},
		{"set of words and truths", base, []string{"memory=ram", "icrc_check=false", "name=other"},
			with(func(p *Params) { p.Memory, p.ICRCCheck, p.Name = MemoryRAM, false, "other" })},
		{"slots that are no power of two", spoil(t, base, "buffer_bytes: 11264"), nil, with(func(p *Params) { p.BufferBytes = 11264 })},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse("x.yaml", []byte(c.text), c.sets...)
			require.NoError(t, err)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("parameters (-want +got):\n%s", d)
			}
		})
	}
}

func TestApplySet(t *testing.T) {
	t.Parallel()
	p, err := Preset("mini")
	require.NoError(t, err)

	q, err := p.ApplySet([]string{"bus_bytes=32", "groups=1"})
	require.NoError(t, err)
	assert.Equal(t, []int{32, 8, 1}, []int{q.BusBytes, q.Lanes, q.Groups})
	assert.Equal(t, 8, p.BusBytes, "the receiver stays as it was")

	q, err = q.ApplySet([]string{"accumulate=reproducible"})
	require.NoError(t, err)
	assert.Equal(t, 16, q.Lanes, "lanes that follow go on following")
	q, err = q.ApplySet([]string{"lanes=4"})
	require.NoError(t, err)
	q, err = q.ApplySet([]string{"bus_bytes=64"})
	require.NoError(t, err)
	assert.Equal(t, 4, q.Lanes, "lanes that were set stay")

	_, err = p.ApplySet([]string{"bus_bytes=32", "lanes=16"})
	require.EqualError(t, err, "--set lanes=16: lanes: 16: must be at most 8 for bus_bytes 32 and accumulate in_place: with 8 lanes a beat of 32-bit elements takes 1 cycle: more would stand idle, and there is no 16-bit type to use them")

	q, err = p.ApplySet([]string{"mode=3"})
	require.NoError(t, err)
	assert.Equal(t, []int{3, 2000}, []int{q.Mode, q.HopRTTNS})
	q, err = q.ApplySet([]string{"mode=2"})
	require.NoError(t, err)
	assert.Equal(t, p, q, "a key comes and goes with its mode")
	_, err = p.ApplySet([]string{"hop_rtt_ns=5"})
	require.EqualError(t, err, "--set hop_rtt_ns=5: hop_rtt_ns: 5: must be left out with mode 2: only modes 1 and 3 have it")

	_, err = p.ApplySet([]string{"mtu_bytes=4096"})
	require.EqualError(t, err, "buffer_bytes: 16384: must be at least 32768, 2 · window_packets (4) · mtu_bytes (4096): not one group would fit")
}

func TestPresets(t *testing.T) {
	t.Parallel()
	names, err := Presets()
	require.NoError(t, err)
	require.Subset(t, names, []string{"mini", "fpga100g", "agilex8m", "chip28"})
	schema := compileSchema(t)
	for _, n := range names {
		t.Run(n, func(t *testing.T) {
			t.Parallel()
			src, err := PresetSource(n)
			require.NoError(t, err)
			require.NoError(t, schema.Validate(generic(t, src)))

			p, err := Preset(n)
			require.NoError(t, err)
			assert.Equal(t, n, p.Name, "a preset's name is its file's")

			again, err := Parse("again.yaml", p.YAML())
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(p, again))
			assert.Equal(t, p.Digest(), again.Digest())
			require.NoError(t, schema.Validate(generic(t, p.YAML())))
		})
	}
}

// TestPresetTable holds the presets to the table in the project's design.
func TestPresetTable(t *testing.T) {
	t.Parallel()
	type row struct {
		Bus, Lanes int
		DTypes     []DType
		Ops        []Op
		Accumulate Accumulate

		Buffer, Groups, Members, Ports, MTU, Window, Clock int
	}
	for name, want := range map[string]row{
		"mini":     {8, 2, []DType{contract.INT32}, []Op{contract.SUM}, InPlace, 16 << 10, 2, 4, 4, 1024, 4, 250},
		"fpga100g": {64, 16, []DType{contract.FP32, contract.INT32}, Ops(), InPlace, 1 << 20, 4, 8, 8, 4096, 32, 250},
		"agilex8m": {64, 16, []DType{contract.FP32}, Ops(), InPlace, 8 << 20, 2, 16, 16, 4096, 512, 250},
		"chip28":   {1024, 512, DTypes(), Ops(), Reproducible, 1 << 20, 64, 16, 16, 4096, 16, 1000},

		"chip28lean":  {512, 128, DTypes(), Ops(), InPlace, 1 << 20, 16, 16, 16, 4096, 16, 800},
		"fpga100g256": {1024, 256, []DType{contract.FP32, contract.INT32}, Ops(), InPlace, 1 << 20, 4, 8, 8, 4096, 32, 250},
	} {
		p, err := Preset(name)
		require.NoError(t, err)
		assert.Equal(t, want, row{p.BusBytes, p.Lanes, p.DTypes, p.Ops, p.Accumulate,
			p.BufferBytes, p.Groups, p.Members, p.Ports, p.MTUBytes, p.WindowPackets, p.ClockMHz}, name)
	}
}

// TestReplay: what the area model chooses for the queue at the way out. Flip-flops where few wide words are wanted, memory where
// many or narrow ones are, on an FPGA, and where it is asked for.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset string
		sets   []string
		want   queue
	}{
		{"chip28", nil, queue{4, true}},
		{"chip28", []string{"bus_bytes=256", "lanes=128"}, queue{16, true}},
		{"chip28", []string{"memory=ram"}, queue{8, false}},
		{"chip28", []string{"technology=fpga", "clock_mhz=300"}, queue{8, true}},
		{"fpga100g", nil, queue{64, true}},
		{"fpga100g", []string{"ecc=all"}, queue{128, false}},
		{"fpga100g", []string{"memory=ram"}, queue{128, false}},
		{"fpga100g", []string{"bus_bytes=32", "lanes=8"}, queue{256, false}},
		{"fpga100g", []string{"technology=asic"}, queue{128, false}},
		{"mini", []string{"technology=asic"}, queue{256, false}},
	} {
		p, err := Preset(c.preset)
		require.NoError(t, err)
		p, err = p.ApplySet(c.sets)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.replay(), "%s %v", c.preset, c.sets)
	}
}

// TestDecisionStages: as few as an FPGA's clock leaves time for where the bus is wide, else the most; or as they are given.
func TestDecisionStages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset string
		sets   []string
		want   int
	}{
		{"fpga100g", nil, 4}, {"fpga100g3", nil, 4}, {"fpga100g1", nil, 4}, {"mini", nil, 5}, {"chip28", nil, 5},
		{"fpga100g", []string{"clock_mhz=251"}, 5}, {"fpga100g", []string{"bus_bytes=32", "lanes=8"}, 5}, {"fpga100g", []string{"technology=asic"}, 5},
		{"fpga100g", []string{"decision_stages=5"}, 5}, {"mini", []string{"decision_stages=4"}, 4},
	} {
		p, err := Load(c.preset, c.sets...)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.Derived().DecisionStages, "%s %v", c.preset, c.sets)
	}
	_, err := Load("mini", "decision_stages=6")
	require.ErrorContains(t, err, "decision_stages: 6: must be from 0 to 5: the decision has 4 steps, and its work may wait in a register more")
	_, err = Load("mini", "decision_stages=3")
	require.ErrorContains(t, err, "decision_stages: 3: must be 0, 4 or 5")
}

// TestPresetsCover: whatever runs on all presets meets every kind of engine.
func TestPresetsCover(t *testing.T) {
	t.Parallel()
	names, err := Presets()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, n := range names {
		p, err := Preset(n)
		require.NoError(t, err)
		d := p.Derived()
		for kind, has := range map[string]bool{
			"16-bit beat in a cycle":         d.LaneBanks == 2,
			"16-bit types alone":             d.HasWide && p.Contract().LeastUnits() > 1,
			"fewer lanes than the bus":       d.RowBytes < p.BusBytes && p.Accumulate == InPlace,
			"reproducible, odd, few lanes":   d.RowBytes < p.BusBytes && p.Accumulate == Reproducible && p.Members%2 == 1 && d.TreeLevels > 0,
			"reproducible without a tree":    p.Accumulate == Reproducible && d.TreeLevels == 0,
			"places that make no slot":       d.Places%d.Planes != 0,
			"no sums":                        !slices.Contains(p.Ops, contract.SUM),
			"everything on the smallest bus": p.BusBytes == minBusBytes && len(p.DTypes) == len(DTypes()) && len(p.Ops) == len(Ops()),
			"a bus above 64 bytes":           p.BusBytes > 64,
			"check bits in place":            p.ECC && p.Accumulate == InPlace,
			"check bits, reproducible":       p.ECC && p.Accumulate == Reproducible,
			"banks":                          p.PayloadBanks > 1,
			"groups fixed by registers":      !p.InBand,
			"flip-flops":                     p.Memory == MemoryRegisters,
			"no ICRC check":                  !p.ICRCCheck,
			"silicon":                        p.Technology == ASIC,
			"one stage of FP":                d.HasFP && d.AdderStages == 1,
			"the most stages":                d.AdderStages == maxStages,
		} {
			seen[kind] = seen[kind] || has
		}
	}
	for kind, found := range seen {
		assert.True(t, found, "no preset has: %s", kind)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(file, []byte(base), 0o600))

	p, err := Load(file, "groups=7")
	require.NoError(t, err)
	assert.Equal(t, 7, p.Groups)

	p, err = Load("fpga100g", "groups=3")
	require.NoError(t, err)
	assert.Equal(t, 3, p.Groups)

	_, err = Load("mnii")
	require.ErrorContains(t, err, `find the parameters: no preset "mnii"; there are agilex8m, `)
	require.ErrorContains(t, err, `; did you mean "mini"?`)

	_, err = Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestCanonicalYAML freezes the text that digests are made of.
func TestCanonicalYAML(t *testing.T) {
	t.Parallel()
	p, err := Preset("mini")
	require.NoError(t, err)
	assert.Equal(t, base, string(p.YAML()))
	assert.Equal(t, "fbfaf44ef19d6ba44048e2f26de7791b306ed2ced59c92c85eec1cab7a021c32", p.Digest(), "sha256sum of the text above")
}

// TestKeysMatchStruct keeps the table of keys, the YAML names and the JSON names of the struct together.
func TestKeysMatchStruct(t *testing.T) {
	t.Parallel()
	var fromStruct, fromTable []string
	typ := reflect.TypeFor[Params]()
	for i := range typ.NumField() {
		tag := typ.Field(i).Tag
		if tag.Get("yaml") == "-" { // ecc: all, which its field ECC is set with
			continue
		}
		require.Equal(t, tag.Get("yaml"), strings.TrimSuffix(tag.Get("json"), ",omitempty"))
		fromStruct = append(fromStruct, tag.Get("yaml"))
	}
	for _, f := range fields() {
		fromTable = append(fromTable, f.key)
	}
	assert.Equal(t, fromStruct, fromTable)
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	raw, err := Schema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("params.json", doc))
	s, err := c.Compile("params.json")
	require.NoError(t, err)
	return s
}

// generic reads YAML as an editor with a schema would: into plain JSON values, by the library's own decoder.
func generic(t testing.TB, src []byte) any {
	t.Helper()
	j, err := yaml.YAMLToJSON(src)
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(j)))
	require.NoError(t, err)
	return v
}

func TestSchemaIsStrict(t *testing.T) {
	t.Parallel()
	s := compileSchema(t)
	require.Error(t, s.Validate(generic(t, []byte(base+"colour: red\n"))))
	require.Error(t, s.Validate(generic(t, []byte("name: x\n"))))
	require.NoError(t, s.Validate(generic(t, []byte(base))))

	raw, err := Schema()
	require.NoError(t, err)
	var doc struct {
		Properties map[string]struct{ Description string }
		Required   []string
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	for _, f := range fields() {
		assert.NotEmpty(t, doc.Properties[f.key].Description, f.key)
	}
	assert.Equal(t, []string{"name", "bus_bytes", "buffer_bytes", "groups", "members", "ports", "mtu_bytes", "window_packets", "clock_mhz"}, doc.Required)
}

// drawn makes parameters round the edges of what is legal; about one in eight are.
func drawn(t *rapid.T) Params {
	p := Params{Name: "x", Mode: rapid.SampledFrom([]int{2, 2, 3, 1}).Draw(t, "mode"), ICRCCheck: true}
	if p.Mode != 2 {
		p.HopRTTNS = rapid.SampledFrom([]int{1, 124, 125, 126, 2000, 7999, 8_000_000, 0, 8_000_001}).Draw(t, "hop")
	}
	p.MTUBytes = rapid.SampledFrom([]int{256, 512, 1024, 2048, 4096, 256, 512, 1024, 2048, 4096, 4096, 4096, 300, 0}).Draw(t, "mtu")
	p.BusBytes = rapid.SampledFrom([]int{8, 16, 32, 64, 8, 16, 32, 64, p.MTUBytes / 2, p.MTUBytes / 2, p.MTUBytes / 4, p.MTUBytes, 4, 4096}).Draw(t, "bus")
	p.Lanes = rapid.SampledFrom([]int{2, 2, p.BusBytes / 4, p.BusBytes / 4, p.BusBytes / 4, p.BusBytes / 4, p.BusBytes / 2, p.BusBytes / 2, p.BusBytes / 8, 512, p.BusBytes, 3}).Draw(t, "lanes")
	for i, all := 0, rapid.SampledFrom([]int{8, 9, 15, 6, 2, 1, 8, 9, 15, 6, 4, 12, 0}).Draw(t, "dtypes"); i < 4; i++ {
		if all>>i&1 == 1 {
			p.DTypes = append(p.DTypes, DTypes()[i])
		}
	}
	for i, all := 0, rapid.SampledFrom([]int{1, 7, 6, 2, 7, 5, 1, 7, 3, 4, 7, 0}).Draw(t, "ops"); i < 3; i++ {
		if all>>i&1 == 1 {
			p.Ops = append(p.Ops, Ops()[i])
		}
	}
	p.Accumulate = rapid.SampledFrom([]Accumulate{InPlace, Reproducible}).Draw(t, "accumulate")
	p.Groups = rapid.SampledFrom([]int{1, 2, 7, 64, rapid.IntRange(0, 65).Draw(t, "any groups")}).Draw(t, "groups")
	p.Members = rapid.SampledFrom([]int{1, 2, 5, 16, rapid.IntRange(0, 17).Draw(t, "any members")}).Draw(t, "members")
	p.Ports = rapid.SampledFrom([]int{2, 6, 17, 32, rapid.IntRange(0, 33).Draw(t, "any ports")}).Draw(t, "ports")
	p.WindowPackets = rapid.SampledFrom([]int{1, 2, 4, 8, 64, 512, 1024, 1, 2, 4, 8, 3, 0}).Draw(t, "window")
	window, slot := p.WindowPackets, p.MTUBytes
	if p.Mode == 1 {
		p.MessageBytes = rapid.SampledFrom([]int{p.MTUBytes, 2 * p.MTUBytes, 16 * p.MTUBytes, 3 * p.MTUBytes, p.MTUBytes / 2}).Draw(t, "message")
		p.WindowMessages = rapid.SampledFrom([]int{1, 2, 4, 1024, 3, 0}).Draw(t, "messages")
		window, slot = p.WindowMessages, p.MessageBytes
	}
	slots := rapid.SampledFrom([]int{2, 4}).Draw(t, "wide")*window + rapid.IntRange(-1, 40).Draw(t, "slots")
	if p.Accumulate == Reproducible {
		slots *= (p.Members + 1) / 2
	}
	p.BufferBytes = slot*(slots+rapid.IntRange(0, 3).Draw(t, "more")) + rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 4}).Draw(t, "odd")
	p.ClockMHz = rapid.SampledFrom([]int{100, 90, 91, 250, 331, 400, 401, 1000, 1500, 1501, 2000}).Draw(t, "clock")
	p.Technology = rapid.SampledFrom([]Technology{FPGA, ASIC}).Draw(t, "technology")
	p.DecisionStages = rapid.SampledFrom([]int{0, 4, 5}).Draw(t, "decision")
	p.AdderStages = rapid.IntRange(0, 6).Draw(t, "stages") * rapid.IntRange(0, 1).Draw(t, "given")
	p.Memory = rapid.SampledFrom([]Memory{MemoryAuto, MemoryAuto, MemoryRAM, MemoryRAM, MemoryRegisters}).Draw(t, "memory")
	p.ECC = rapid.Bool().Draw(t, "ecc")
	p.ECCAll = p.ECC && rapid.Bool().Draw(t, "all")
	p.MemoryPins = rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 0, 1, 64, 256, 257, -1}).Draw(t, "memory pins")
	p.InBand = rapid.Bool().Draw(t, "in_band")
	p.PortBytes = rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 2, 8, p.BusBytes, 3, -1}).Draw(t, "port")
	if p.PortBytes > 0 && rapid.IntRange(0, 3).Draw(t, "widths") == 0 {
		p.PortWidths = rapid.SliceOfN(rapid.SampledFrom([]float64{1, 1, 1, 1, 2, float64(p.PortBytes)}), p.Ports, p.Ports+rapid.IntRange(0, 1).Draw(t, "one more")).Draw(t, "width")
	}
	if p.PortBytes != 0 || rapid.IntRange(0, 9).Draw(t, "queued") == 0 { // without queues neither is legal
		p.PortDrop = rapid.Bool().Draw(t, "drop")
		p.PortClockMHz = rapid.SampledFrom([][]float64{nil, nil, {100}, {156.25, 322.265625}, {0}}).Draw(t, "port clock")
	}
	if p.Engines = rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 8, 8, 3, 0, 9}).Draw(t, "engines"); p.Engines > 1 {
		p.Groups = rapid.SampledFrom([]int{1, 2, 8, 64, p.Groups}).Draw(t, "groups of several")
	}
	p.VLAN = rapid.IntRange(0, 3).Draw(t, "vlan") == 0
	p.Park = rapid.IntRange(0, 3).Draw(t, "park") == 0
	p.EagerTree = p.Accumulate == Reproducible && rapid.IntRange(0, 3).Draw(t, "eager tree") == 0
	p.Interrupts = rapid.IntRange(0, 3).Draw(t, "interrupts") == 0
	p.Priorities = 1
	if p.PortBytes > 0 || rapid.IntRange(0, 9).Draw(t, "prior") == 0 {
		p.Priorities = rapid.SampledFrom([]int{1, 1, 1, 1, 2, 4, 8, 3, 16}).Draw(t, "priorities")
	}
	p.PayloadBanks = rapid.SampledFrom([]int{1, 1, 1, 1, 1, 2, 2, 4, 4, 16, 3}).Draw(t, "banks")
	return p
}

// TestDerivedRelations checks each derived number by what it must do, not by its formula.
func TestDerivedRelations(t *testing.T) {
	t.Parallel()
	legal := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		d := p.Derived()
		if p.Validate() != nil {
			require.Zero(t, d)
			return
		}
		legal++
		// holds: n values fit in b bits, and b−1 bits would not do; b is at least atLeast.
		holds := func(what string, n, b, atLeast int) {
			require.GreaterOrEqual(t, b, atLeast, what)
			require.LessOrEqual(t, n, 1<<b, what)
			if b > atLeast {
				require.Greater(t, n, 1<<(b-1), what)
			}
		}
		require.Equal(t, p.BusBytes*8, d.BusBits)
		require.Equal(t, p.BusBytes, d.KeepBits)
		require.Equal(t, p.BusBytes, 1<<d.BusShift)
		require.Equal(t, []int{p.Lanes, 32}, []int{d.Lanes, d.LaneBits})
		var dtypes, ops int
		for i, name := range []DType{"FP32", "FP16", "BF16", "INT32"} {
			if slices.Contains(p.DTypes, name) {
				dtypes += 1 << i
			}
		}
		for i, name := range []Op{"SUM", "MIN", "MAX"} {
			if slices.Contains(p.Ops, name) {
				ops += 1 << i
			}
		}
		require.Equal(t, []int{dtypes, ops}, []int{d.DTypeMask, d.OpMask})
		require.Equal(t, []bool{dtypes&7 != 0, dtypes&6 != 0, dtypes&8 != 0}, []bool{d.HasFP, d.HasWide, d.HasInt})
		if require.Positive(t, d.AdderStages); p.AdderStages != 0 {
			require.Equal(t, p.AdderStages, d.AdderStages)
		} else {
			mhz := stageMHz(p.Technology, d.HasFP)
			require.GreaterOrEqual(t, mhz[d.AdderStages-1], p.ClockMHz)
			if d.AdderStages > 1 {
				require.Less(t, mhz[d.AdderStages-2], p.ClockMHz)
			}
		}
		holds("bytes of a beat", p.BusBytes+1, d.BeatBytesBits, 0)
		holds("endpoints", p.Members+1, d.EPBits, 1)
		require.Equal(t, d.EPs, 1<<d.EPBits)
		require.Equal(t, p.Members+1, d.MaskBits)
		holds("groups", p.Groups, d.GroupBits, 1)
		holds("group part of ei", p.Groups, d.GroupIndexBits, 0)
		require.Equal(t, d.GroupsPow2, 1<<d.GroupIndexBits)
		require.Equal(t, d.EIs, 1<<d.EIBits)
		require.Less(t, (p.Groups-1)*d.EPs+p.Members, d.EIs)
		place, window := p.MTUBytes, p.WindowPackets
		if p.Mode == 1 {
			place, window = p.MessageBytes, p.WindowMessages
		}
		require.Equal(t, p.BufferBytes/place, d.Places)
		require.True(t, p.Mode == 1 || p.BufferBytes%place == 0)
		require.LessOrEqual(t, d.Slots*d.Planes, d.Places)
		require.Greater(t, (d.Slots+1)*d.Planes, d.Places)
		if p.Accumulate == InPlace {
			require.Equal(t, 1, d.Planes)
		} else {
			require.LessOrEqual(t, p.Members, 2*d.Planes)
			require.Greater(t, p.Members, 2*(d.Planes-1))
		}
		holds("tree", d.Planes, d.TreeLevels, 0)
		holds("slots", d.Slots, d.SlotBits, 1)
		a32 := dtypes&9 != 0 // a slot holds a packet
		packets := d.Slots
		if !a32 {
			packets /= 2
		}
		require.LessOrEqual(t, 1<<d.MaxLog2N, packets)
		require.Greater(t, 2<<d.MaxLog2N, packets)
		require.LessOrEqual(t, d.GroupLog2N, d.MaxLog2N)
		require.Less(t, d.MaxLog2N, 1<<d.Log2NBits)
		require.Equal(t, d.GroupSlots, 1<<d.GroupLog2N)
		require.Equal(t, 2*window, d.GroupSlots)
		require.Equal(t, 2*d.GroupSlots, d.WideGroupSlots)
		require.LessOrEqual(t, d.GroupSlots, d.Slots)
		require.True(t, a32 || d.WideGroupSlots <= d.Slots)
		holds("window", p.WindowPackets+1, d.WindowBits, 0)
		if p.Mode != 2 {
			require.Equal(t, window, d.PipeSlots)
			require.Equal(t, d.GroupSlots, 2*d.PipeSlots)
			// in fs: the time of the packets at one beat a cycle, which reaches the round trip, and not with one packet less
			packet := d.MTUWords * 1e9 / p.ClockMHz
			require.InDelta(t, p.HopRTTNS*1e6, (float64(d.HopPackets)-0.5)*float64(packet), 0.51*float64(packet)+float64(d.HopPackets*d.MTUWords))
			require.GreaterOrEqual(t, d.PipeTimeoutUS*1000, 8*p.HopRTTNS)
			require.Less(t, (d.PipeTimeoutUS-1)*1000, 8*p.HopRTTNS)
			require.True(t, d.PipeTimeoutUS >= 1 && d.PipeTimeoutUS <= 65535)
		} else {
			require.Equal(t, [3]int{}, [3]int{d.PipeSlots, d.HopPackets, d.PipeTimeoutUS})
		}
		holds("ports", p.Ports, d.PortBits, 1)
		require.Equal(t, d.PortBits+1, d.TUserBits)
		require.Equal(t, p.MTUBytes, d.MTUWords*p.BusBytes)
		require.Equal(t, d.MTUWords, 1<<d.WordBits)
		holds("beat count", d.MTUWords+1, d.WordCountBits, 0)
		require.GreaterOrEqual(t, d.MTUWords, 2)
		require.Equal(t, d.Slots*d.Planes*place, d.PayloadRows*d.RowBytes)
		holds("payload rows", d.PayloadRows, d.PayloadAddrBits, 0)
		require.GreaterOrEqual(t, d.PayloadRows, 2*p.PayloadBanks)
		require.Zero(t, p.BusBytes%d.RowBytes)
		require.Equal(t, p.MTUBytes, d.MTURows*d.RowBytes)
		// The lanes that add to rows: all of them in place, half of them if reproducible.
		adders := p.Lanes
		if p.Accumulate == Reproducible {
			adders /= 2
		}
		require.Equal(t, 4*adders, d.RowBytes*d.LaneBanks)
		require.True(t, d.LaneBanks == 1 || d.LaneBanks == 2 && d.HasWide && d.RowBytes == p.BusBytes)
		holds("payload length", p.MTUBytes+1, d.PayloadLenBits, 0)
		require.Equal(t, p.MTUBytes+14+20+8+12+4+4, d.FrameBytes)
		require.GreaterOrEqual(t, d.FrameWords*p.BusBytes, d.FrameBytes)
		require.Less(t, (d.FrameWords-1)*p.BusBytes, d.FrameBytes)
		require.Equal(t, d.PacketWords, 1<<d.PacketAddrBits)
		require.GreaterOrEqual(t, d.PacketWords, max(4*d.MTUWords, 32))
		require.GreaterOrEqual(t, d.PacketWords, 2*d.FrameWords)
		require.GreaterOrEqual(t, d.PacketWords*p.BusBytes, 4*p.MTUBytes)
		require.Equal(t, d.ReplayWords, 1<<d.ReplayAddrBits)
		// an FPGA reads what its distributed memory holds like flip-flops, if that is a payload
		least := max(2*d.MTUWords, 8)
		atOnce := p.Technology == FPGA && p.BusBytes >= 64 && p.Memory == MemoryAuto && !p.ECCAll && d.MTUWords <= 64
		switch {
		case atOnce:
			require.True(t, d.ReplayFlops)
			require.GreaterOrEqual(t, d.ReplayWords, min(least, 64))
			require.LessOrEqual(t, d.ReplayWords, 64)
		case d.ReplayFlops:
			require.Equal(t, ASIC, p.Technology)
			require.Equal(t, d.MTUWords, d.ReplayWords)
		default:
			require.GreaterOrEqual(t, d.ReplayWords, least)
		}
		require.Equal(t, d.HeaderEntries, 1<<d.HeaderAddrBits)
		require.Equal(t, []int{24, 24, 24, 16, 5}, []int{d.PSNBits, d.MSNBits, d.QPNBits, d.LenBits, d.Log2NBits})
	})
	require.NotZero(t, legal, "no legal parameters were drawn")
}

// TestValidateVerdict compares Validate with the limits as the documentation words them.
func TestValidateVerdict(t *testing.T) {
	t.Parallel()
	verdicts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		oneOf := func(v int, set ...int) bool {
			for _, s := range set {
				if v == s {
					return true
				}
			}
			return false
		}
		ok := oneOf(p.BusBytes, 8, 16, 32, 64, 128, 256, 512, 1024, 2048) && oneOf(p.MTUBytes, 256, 512, 1024, 2048, 4096) &&
			oneOf(p.WindowPackets, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) && oneOf(p.Lanes, 2, 4, 8, 16, 32, 64, 128, 256, 512) &&
			p.Groups >= 1 && p.Groups <= 64 && p.Members >= 1 && p.Members <= 16 && p.Ports >= 1 && p.Ports <= 32 &&
			len(p.DTypes) > 0 && len(p.Ops) > 0 && p.PayloadBanks != 3 && (p.Mode == 2 || p.HopRTTNS > 0 && p.HopRTTNS <= 8_000_000) && 2*p.BusBytes <= p.MTUBytes &&
			oneOf(p.PortBytes, 0, 1, 2, 8, p.BusBytes) && p.PortBytes <= p.BusBytes && (p.PortBytes > 0 || !p.PortDrop) &&
			(len(p.PortWidths) == 0 || len(p.PortWidths) == p.Ports && !slices.Contains(p.PortWidths, 3) && slices.Max(p.PortWidths) <= float64(p.PortBytes)) &&
			(len(p.PortClockMHz) == 0 || p.PortBytes > 0 && (len(p.PortClockMHz) == p.Ports || len(p.PortClockMHz) == 1)) &&
			!slices.Contains(p.PortClockMHz, 0) && p.Engines >= 1 && p.Engines <= 8 && (p.Engines == 1 || p.Groups&(p.Groups-1) == 0) && !(p.EagerTree && p.Mode == 1) && (p.Priorities == 1 || p.PortBytes > 0 && slices.Contains([]int{2, 4, 8}, p.Priorities)) &&
			p.MemoryPins >= 0 && p.MemoryPins <= 256
		has := func(types ...DType) bool {
			return slices.ContainsFunc(types, func(d DType) bool { return slices.Contains(p.DTypes, d) })
		}
		if ok {
			planes, row := 1, 2*p.Lanes
			if p.Accumulate == Reproducible {
				planes = (p.Members + 1) / 2
				ok = 2*p.Lanes <= p.BusBytes
			} else {
				row = min(4*p.Lanes, p.BusBytes)
				ok = 4*p.Lanes <= p.BusBytes || 4*p.Lanes == 2*p.BusBytes && has(contract.FP16, contract.BF16)
			}
			slot, window := p.MTUBytes, p.WindowPackets
			if p.Mode == 1 {
				slot, window = p.MessageBytes, p.WindowMessages
				ok = ok && slot >= p.MTUBytes && slot&(slot-1) == 0 && oneOf(window, 1, 2, 4, 1024)
			}
			slots := p.BufferBytes / max(slot, 1) / planes
			ok = ok && p.BufferBytes <= 1<<28 && p.BufferBytes%p.MTUBytes == 0 && slots <= 65536 &&
				(has(contract.FP32, contract.INT32) && slots >= 2*window || slots >= 4*window) &&
				(p.Memory != MemoryRegisters || p.BufferBytes <= 65536 && p.PayloadBanks == 1) &&
				slots*planes*(slot/row) >= 2*p.PayloadBanks &&
				(p.AdderStages > 0 || !has(contract.FP32, contract.FP16, contract.BF16) || p.ClockMHz <= map[Technology]int{FPGA: 270, ASIC: 1790}[p.Technology])
		}
		err := p.Validate()
		verdicts[ok]++
		require.Equal(t, ok, err == nil, "%+v: %v", p, err)
		if ok {
			again, err := Parse("again.yaml", p.YAML())
			require.NoError(t, err)
			require.Equal(t, p, again)
		}
	})
	require.NotZero(t, verdicts[true], "no legal parameters were drawn")
}

// TestOrderOfLists: only the reader puts lists in order; a struct has one spelling, and so one digest.
func TestOrderOfLists(t *testing.T) {
	t.Parallel()
	p, err := Parse("x.yaml", []byte(base))
	require.NoError(t, err)
	p.DTypes = []DType{contract.INT32, contract.FP32}
	require.EqualError(t, p.Validate(), "dtypes: [INT32, FP32]: must be a list of one or more of FP32, FP16, BF16, INT32: they are kept in the order of their codes")
	assert.Zero(t, p.Derived())
}

// TestDerivedExamples works a few configurations out by hand.
func TestDerivedExamples(t *testing.T) {
	t.Parallel()
	type row struct {
		Lanes, RowBytes, LaneBanks, Planes, TreeLevels, Places, Slots, PayloadRows, PayloadAddrBits, AdderStages, DTypeMask, OpMask, MaxLog2N int
	}
	for _, c := range []struct {
		name string
		sets []string
		want row
	}{
		{"INT32 sums", nil, row{2, 8, 1, 1, 0, 16, 16, 2048, 11, 2, 8, 1, 4}},
		{"the published chip", []string{"bus_bytes=1024", "dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "accumulate=reproducible",
			"buffer_bytes=1048576", "groups=64", "members=16", "mtu_bytes=4096", "window_packets=16", "clock_mhz=1000", "technology=asic", "payload_banks=2"},
			row{512, 1024, 1, 8, 3, 256, 32, 1024, 10, 2, 15, 7, 5}},
		{"odd members, few lanes", []string{"accumulate=reproducible", "members=5", "buffer_bytes=25600", "lanes=2", "dtypes=[FP32]", "ops=[MAX]"},
			row{2, 4, 1, 3, 2, 25, 8, 6144, 13, 4, 1, 4, 3}},
		{"a pair needs no tree", []string{"accumulate=reproducible", "members=2"}, row{4, 8, 1, 1, 0, 16, 16, 2048, 11, 2, 8, 1, 4}},
		{"16-bit types alone, lanes doubled", []string{"lanes=4", "dtypes=[FP16, BF16]", "clock_mhz=200"}, row{4, 8, 2, 1, 0, 16, 16, 2048, 11, 4, 6, 1, 3}},
		{"a quarter of the bus", []string{"bus_bytes=64", "lanes=4", "adder_stages=6"}, row{4, 16, 1, 1, 0, 16, 16, 1024, 10, 6, 8, 1, 4}},
		{"INT32 at a low clock", []string{"clock_mhz=110"}, row{2, 8, 1, 1, 0, 16, 16, 2048, 11, 1, 8, 1, 4}},
		{"INT32 in silicon", []string{"clock_mhz=1000", "technology=asic"}, row{2, 8, 1, 1, 0, 16, 16, 2048, 11, 1, 8, 1, 4}},
	} {
		p, err := Parse("x.yaml", []byte(strings.Replace(base, "lanes: 2\n", "", 1)), c.sets...)
		require.NoError(t, err, c.name)
		d := p.Derived()
		assert.Equal(t, c.want, row{d.Lanes, d.RowBytes, d.LaneBanks, d.Planes, d.TreeLevels, d.Places, d.Slots, d.PayloadRows, d.PayloadAddrBits,
			d.AdderStages, d.DTypeMask, d.OpMask, d.MaxLog2N}, c.name)
	}
}

// FuzzParse looks for text that crashes the reader, for places outside the text, and for accepted text that does not survive
// being printed and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(base), "groups=3")
	f.Add([]byte("{name: x, ? [a] : b}"), "=")
	f.Add([]byte("&a name: *a\n<<: *a\n"), "ops=[")
	f.Add([]byte("name: |\n  x\n--- \n- : -\n"), "name=\"\\x\"")
	for _, c := range oneKey() {
		f.Add([]byte(c.line), c.line)
	}
	f.Fuzz(func(t *testing.T, text []byte, set string) {
		p, err := Parse("f.yaml", text, set)
		if err == nil {
			again, err := Parse("g.yaml", p.YAML())
			require.NoError(t, err)
			require.Equal(t, p, again)
			return
		}
		for _, q := range asProblems(t, err) {
			require.NotEmpty(t, q.Error())
			require.LessOrEqual(t, q.Pos.Line, strings.Count(string(text), "\n")+strings.Count(string(text), "\r")+1)
		}
	})
}
