// SPDX-License-Identifier: Apache-2.0

package sva

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/hdl/verilog"
)

// suffix is that of a checker's name.
const suffix = "_sva"

// streamChecker is that of every offer that is taken with a ready.
const streamChecker = "inc_stream" + suffix

// stream is an offer at the ports of a block that has to stand still until it is taken.
type stream struct {
	module, name, valid, ready string
	data                       string // what stands still
}

// streams are all of those.
func streams() []stream {
	return []stream{
		{"inc_parser", "s_axis", "s_axis_tvalid", "s_axis_tready", "s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser"},
		{"inc_replicate_data", "req", "req_valid", "req_ready", "req_ei, req_opcode, req_se, req_pad, req_ce, req_psn, req_in_band, req_rng, " +
			"req_dir, req_ext, req_plen, req_words"},
		{"inc_replicate_data", "word", "word_valid", "word_ready", "word_data, word_bad"},
		{"inc_assemble", "m", "m_valid", "m_ready", "m_data, m_check, m_size, m_first, m_last, m_port, m_front, m_left, m_bad"},
		{"inc_icrc_insert", "m", "m_valid", "m_ready", "m_data, m_size, m_last, m_port"},
		{"inc_forward", "m_axis", "m_axis_tvalid", "m_axis_tready", "m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser"},
		{"inc_csr", "b", "s_axil_bvalid", "s_axil_bready", "s_axil_bresp"},
		{"inc_csr", "r", "s_axil_rvalid", "s_axil_rready", "s_axil_rdata, s_axil_rresp"},
	}
}

// instance is a checker as it stands in a block, or is bound to it.
type instance struct{ module, text string }

var (
	parameter = regexp.MustCompile(`(?m)^    parameter (\w+) =`)
	input     = regexp.MustCompile(`(?m)^    input wire +(?:\[[^\]]*\] +)?(\w+),?$`)
)

// fits tells whether a block has all that its checker reads. Mode I's inc_control is another block than that of the other modes, and has not.
func fits(block, checker []byte) bool {
	for _, m := range slices.Concat(parameter.FindAllSubmatch(checker, -1), input.FindAllSubmatch(checker, -1)) {
		if !regexp.MustCompile(`\b` + string(m[1]) + `\b`).Match(block) {
			return false
		}
	}
	return true
}

// own is the checker of a block by name: its parameters and ports are the block's parameters, constants and signals of the same names.
func own(module string, checker []byte) instance {
	var b strings.Builder
	connect := func(names [][][]byte) {
		for i, m := range names {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, ".%s(%[1]s)", m[1])
		}
	}
	b.WriteString(module + suffix)
	if params := parameter.FindAllSubmatch(checker, -1); len(params) > 0 {
		b.WriteString(" #(")
		connect(params)
		b.WriteString(")")
	}
	b.WriteString(" u_sva (")
	connect(input.FindAllSubmatch(checker, -1))
	b.WriteString(");")
	return instance{module, b.String()}
}

// text is a stream's checker as an instance.
func (s stream) text() string {
	return fmt.Sprintf("%s #(.WIDTH($bits({%s}))) u_sva_%s (.clk(clk), .rst(rst), .valid(%s), .ready(%s), .data({%[2]s}));",
		streamChecker, s.data, s.name, s.valid, s.ready)
}

// module is the name of the module in a file, which is called as that is.
func module(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// of finds the instances for a design's files, in their order, and the names of the checkers that they are of.
func of(rtl verilog.Files) (all []instance, names []string) {
	for _, f := range rtl {
		name := module(f.Path)
		if text, err := checkers.ReadFile(path.Join("checkers", name+suffix+".sv")); err == nil && fits(f.Data, text) {
			all = append(all, own(name, text))
			names = append(names, name+suffix)
		}
		for _, s := range streams() {
			if s.module == name {
				all = append(all, instance{name, s.text()})
				names = append(names, streamChecker)
			}
		}
	}
	slices.Sort(names)
	return all, slices.Compact(names)
}

// files are the checkers of those names, in a folder.
func files(folder string, names []string) (verilog.Files, error) {
	var all verilog.Files
	for _, name := range names {
		text, err := checkers.ReadFile(path.Join("checkers", name+".sv"))
		if err != nil {
			return nil, fmt.Errorf("sva: %w", err)
		}
		all = append(all, verilog.File{Path: path.Join(folder, name+".sv"), Data: text})
	}
	return all, nil
}

// Files are the checkers of a design's modules, the binding of each, and the list of both.
func Files(rtl verilog.Files) (verilog.Files, error) {
	folder := path.Dir(contract.AssertionFiles)
	instances, names := of(rtl)
	all, err := files(folder, names)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("// SPDX-License-Identifier: Apache-2.0\n//\n// The checkers, each bound to its block: docs/assertions.md of the generator.\n")
	for _, i := range instances {
		fmt.Fprintf(&b, "bind %s %s\n", i.module, i.text)
	}
	all = append(all, verilog.File{Path: path.Join(folder, "bind.sv"), Data: b.Bytes()})
	var list bytes.Buffer
	for _, f := range all {
		fmt.Fprintln(&list, path.Base(f.Path))
	}
	return append(all, verilog.File{Path: contract.AssertionFiles, Data: list.Bytes()}), nil
}

// Attach puts the checkers into the text of their blocks, for tools that have no bind, and the checkers in front of the design's files.
func Attach(rtl verilog.Files) (verilog.Files, error) {
	instances, names := of(rtl)
	all, err := files(verilog.Folder, names)
	if err != nil {
		return nil, err
	}
	end := []byte("\nendmodule\n")
	for _, f := range rtl {
		var more bytes.Buffer
		for _, i := range instances {
			if i.module == module(f.Path) {
				fmt.Fprintf(&more, "    %s\n", i.text)
			}
		}
		if more.Len() > 0 {
			if bytes.Count(f.Data, end) != 1 {
				return nil, fmt.Errorf("sva: %s has not one module", f.Path)
			}
			f.Data = bytes.Replace(f.Data, end, append(append([]byte("\n    // ---- assertions ----\n\n"), more.Bytes()...), end...), 1)
		}
		all = append(all, f)
	}
	return all, nil
}
