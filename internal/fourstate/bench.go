// SPDX-License-Identifier: Apache-2.0

package fourstate

import (
	"fmt"
	"strings"

	"incforge/contract"
)

const (
	benchModule = "t_fourstate"
	benchFile   = "t_fourstate.v"
)

// Times in cycles.
const (
	resetCycles = 4
	// restCycles is how long an engine may work on after its last frame. In Mode III pipesRestCycles is, which holds a time-out or two.
	restCycles, pipesRestCycles = 1500, 6000
	// stuckCycles is how long a source may wait for tready, or a master for an answer. Tables are cleared a word a cycle.
	stuckCycles = 100000
)

// bench makes the testbench's files.
type bench struct {
	man    *contract.Manifest
	top    contract.Top
	s      *stimulus
	widths map[string]int
	names  []string // streams: "" or _p0, _p1, …
	ends   [][]int  // ends[phase][source]: beats offered by the end of the phase
	data   []string // the sources' beats
	text   strings.Builder
	// busy and enabled are fields of GROUP_STATUS, status.
	status        *contract.Register
	busy, enabled contract.Field
}

// newBench lays out the beats.
func newBench(m *contract.Manifest, top contract.Top, s *stimulus) (*bench, error) {
	b := &bench{man: m, top: top, s: s, widths: map[string]int{}}
	for _, p := range top.Ports {
		b.widths[p.Name] = p.Width
	}
	var err error
	if b.status, err = m.Register("GROUP_STATUS"); err != nil {
		return nil, err
	}
	if b.busy, err = m.Registers.Field(b.status.Name, "busy"); err != nil {
		return nil, err
	}
	if b.enabled, err = m.Registers.Field(b.status.Name, "enabled"); err != nil {
		return nil, err
	}
	b.names = []string{""}
	if !s.core {
		b.names = nil
		for p := range m.Params.Ports {
			b.names = append(b.names, fmt.Sprintf("_p%d", p))
		}
	}
	s.sources = make([][]sent, len(b.names))
	b.data = make([]string, len(b.names))
	beats := make([]int, len(b.names))
	lines := make([]strings.Builder, len(b.names))
	for _, ph := range s.phases {
		for _, f := range ph.frames {
			i := f.port
			if s.core {
				i = 0
			}
			s.sources[i] = append(s.sources[i], sent{f, beats[i]})
			beats[i] += b.beats(&lines[i], f)
		}
		b.ends = append(b.ends, append([]int(nil), beats...))
	}
	for i := range lines {
		if beats[i] == 0 {
			return nil, fmt.Errorf("no frame for stream %q", b.names[i])
		}
		b.data[i] = lines[i].String()
	}
	return b, nil
}

// beatBits are those of a beat in a source's memory: gap, user, last, keep, data.
func (b *bench) beatBits() int {
	n := b.man.Params.BusBytes
	return 8 + b.widths["s_axis"+b.names[0]+"_tuser"] + 1 + n + 8*n
}

// beats writes a frame's beats, one a line, in binary, and returns how many. Bytes behind the end are 0.
func (b *bench) beats(w *strings.Builder, f frame) int {
	n := b.man.Params.BusBytes
	userBits := b.widths["s_axis"+b.names[0]+"_tuser"]
	count := 0
	for at := 0; at < len(f.data); at += n {
		part := f.data[at:min(at+n, len(f.data))]
		last := at+n >= len(f.data)
		user, lastBit := 0, "0"
		if b.s.core {
			user = f.port << 1
		}
		if last {
			lastBit = "1"
			if f.err {
				user |= 1
			}
		}
		gap := 0
		if at == 0 {
			gap = f.gap
		}
		fmt.Fprintf(w, "%08b_%0*b_%s_%s%s_", gap, userBits, user, lastBit, strings.Repeat("0", n-len(part)), strings.Repeat("1", len(part)))
		w.WriteString(strings.Repeat("0", 8*(n-len(part))))
		for i := len(part) - 1; i >= 0; i-- {
			fmt.Fprintf(w, "%08b", part[i])
		}
		w.WriteByte('\n')
		count++
	}
	return count
}

// files are the testbench and the sources' beats.
func (b *bench) files() map[string]string {
	b.module()
	out := map[string]string{benchFile: b.text.String()}
	for i, d := range b.data {
		out[beatFile(i)] = d
	}
	return out
}

func beatFile(i int) string { return fmt.Sprintf("beats%d.txt", i) }

func (b *bench) printf(format string, args ...any) { fmt.Fprintf(&b.text, format+"\n", args...) }

// module writes the testbench.
func (b *bench) module() {
	b.printf("`timescale 1ns/1ps\nmodule %s;", benchModule)
	b.printf("    reg clk = 1'b0;\n    always #1 clk = !clk;")
	var pins []string
	for _, p := range b.top.Ports {
		kind := "wire"
		if p.Dir == "in" {
			kind = "reg"
		}
		if p.Name != b.man.Clock.Port {
			b.printf("    %s [%d:0] %s;", kind, p.Width-1, p.Name)
		}
		pins = append(pins, fmt.Sprintf(".%s(%s)", p.Name, p.Name))
	}
	b.printf("    %s u_dut (%s);\n", b.top.Module, strings.Join(pins, ", "))
	b.printf("    integer cycle = 0, phase = 0, pause = 0, frames_in = 0, frames_out = 0, made = 0, seed = 1;")
	b.printf("    integer source = -1, beat = -1;        // the frame that began last")
	b.printf("    reg watch = 1'b0;")
	for i := range b.names {
		b.source(i)
		b.sink(i)
	}
	b.checker()
	b.registers()
	b.script()
	b.printf("endmodule")
}

// source writes what drives an input stream: the beats of its memory up to one that the script names.
func (b *bench) source(i int) {
	port := "s_axis" + b.names[i]
	n := b.man.Params.BusBytes
	user := b.widths[port+"_tuser"]
	count := b.ends[len(b.ends)-1][i]
	b.printf(`
    reg [%[2]d:0] beats%[1]d [0:%[3]d];
    reg [%[2]d:0] now%[1]d;
    integer at%[1]d = 0, until%[1]d = 0, waited%[1]d = 0, stuck%[1]d = 0;
    reg inside%[1]d = 1'b0;
    initial $readmemb("%[4]s", beats%[1]d);
    always @(posedge clk) begin
        if (%[5]s) begin
            %[6]s_tvalid <= 1'b0;
            inside%[1]d = 1'b0;
            stuck%[1]d = 0;
        end else if (%[6]s_tvalid !== 1'b1 || %[6]s_tready === 1'b1) begin
            now%[1]d = beats%[1]d[at%[1]d];
            stuck%[1]d = 0;
            if (at%[1]d < until%[1]d && waited%[1]d >= now%[1]d[%[2]d -: 8]) begin
                if (!inside%[1]d) begin
                    source = %[1]d;
                    beat = at%[1]d;
                    frames_in = frames_in + 1;
                end
                inside%[1]d = !now%[1]d[%[7]d];
                %[6]s_tvalid <= 1'b1;
                {%[6]s_tuser, %[6]s_tlast, %[6]s_tkeep, %[6]s_tdata} <= now%[1]d[%[8]d:0];
                at%[1]d = at%[1]d + 1;
                waited%[1]d = 0;
            end else begin
                waited%[1]d = waited%[1]d + 1;
                %[6]s_tvalid <= 1'b0;
                {%[6]s_tuser, %[6]s_tlast, %[6]s_tkeep, %[6]s_tdata} <= {%[9]d{1'b0}};
            end
        end else begin
            stuck%[1]d = stuck%[1]d + 1;
            if (stuck%[1]d > %[10]d) fail("STUCK", "%[6]s");
        end
    end`, i, b.beatBits()-1, count-1, beatFile(i), b.man.Clock.Reset, port, 9*n, 9*n+user, 9*n+1+user, stuckCycles)
}

// sink writes what takes an output stream, and counts frames.
func (b *bench) sink(i int) {
	port := "m_axis" + b.names[i]
	n := b.man.Params.BusBytes
	qpn := 47 // where a RoCEv2 frame has its destination queue pair
	b.printf(`
    reg [23:0] qpn%[1]d;
    integer index%[1]d = 0, lane%[1]d;
    always @(posedge clk) begin
        %[2]s_tready <= %[3]s ? 1'b0 : $unsigned($random(seed)) %% 8 >= pause;
        if (%[3]s) index%[1]d = 0;
        else if (%[2]s_tvalid === 1'b1 && %[2]s_tready) begin
            for (lane%[1]d = 0; lane%[1]d < 3; lane%[1]d = lane%[1]d + 1)
                if ((%[4]d + lane%[1]d) / %[5]d == index%[1]d) qpn%[1]d[8*lane%[1]d +: 8] = %[2]s_tdata[8*((%[4]d + lane%[1]d) %% %[5]d) +: 8];
            index%[1]d = index%[1]d + 1;
            if (%[2]s_tlast) begin
                frames_out = frames_out + 1;
                // 0x0001 before the endpoint's index: a host of ours
                if (index%[1]d * %[5]d > %[4]d + 2 && qpn%[1]d[15:0] == 16'h0100) made = made + 1;
                index%[1]d = 0;
            end
        end
    end`, i, port, b.man.Clock.Reset, qpn, n)
}

// checker writes what looks at the outputs.
func (b *bench) checker() {
	b.printf(`
    task fail(input [8*8-1:0] kind, input [64*8-1:0] name);
        begin
            $display("%%0s %%0s cycle %%0d phase %%0d source %%0d beat %%0d", kind, name, cycle, phase, source, beat);
            $finish;
            #1000;
        end
    endtask
    integer lane;
    always @(posedge clk) begin
        cycle = cycle + 1;
        if (watch) begin`)
	for _, p := range b.top.Ports {
		if p.Dir != "out" {
			continue
		}
		valid := b.valid(p.Name)
		switch {
		case valid == "":
			b.printf("            if (^%s === 1'bx) fail(\"X\", %q);", p.Name, p.Name)
		case strings.HasSuffix(p.Name, "_tdata"):
			keep := strings.TrimSuffix(p.Name, "_tdata") + "_tkeep"
			b.printf("            if (%s === 1'b1 && ^%s === 1'bx) for (lane = 0; lane < %d; lane = lane + 1)", valid, p.Name, p.Width/8)
			b.printf("                if (%s[lane] === 1'b1 && ^%s[8*lane +: 8] === 1'bx) fail(\"X\", %q);", keep, p.Name, p.Name)
		default:
			b.printf("            if (%s === 1'b1 && ^%s === 1'bx) fail(\"X\", %q);", valid, p.Name, p.Name)
		}
	}
	b.printf("        end\n    end")
}

// valid is the signal that says when an output means something; none: always.
func (b *bench) valid(port string) string {
	for _, with := range [...]struct{ suffix, valid string }{{"_tdata", "_tvalid"}, {"_tkeep", "_tvalid"}, {"_tlast", "_tvalid"},
		{"_tuser", "_tvalid"}, {"_bresp", "_bvalid"}, {"_rdata", "_rvalid"}, {"_rresp", "_rvalid"}} {
		if base, ok := strings.CutSuffix(port, with.suffix); ok {
			return base + with.valid
		}
	}
	switch port {
	case "mon_port":
		return "mon_valid"
	case "mon_act_kind":
		return "mon_act_valid"
	case "mon_act_ei": // a frame has none
		return "mon_act_valid && mon_act_kind != 3'd0"
	}
	return ""
}

// registers writes the tasks of the register bus. Its inputs are X between accesses.
func (b *bench) registers() {
	addr := b.widths["s_axil_awaddr"]
	b.printf(`
    integer patience;
    task axil_write(input [%[1]d:0] addr, input [31:0] data);
        begin
            {s_axil_awvalid, s_axil_wvalid} <= 2'b11;
            s_axil_awaddr <= addr;
            s_axil_wdata  <= data;
            s_axil_wstrb  <= 4'hF;
            patience = 0;
            @(posedge clk);
            while (s_axil_awready !== 1'b1) begin
                patience = patience + 1;
                if (patience > %[2]d) fail("STUCK", "s_axil_aw");
                @(posedge clk);
            end
            {s_axil_awvalid, s_axil_wvalid} <= 2'b00;
            s_axil_awaddr <= {%[3]d{1'bx}};
            s_axil_wdata  <= 32'bx;
            s_axil_wstrb  <= 4'bx;
            while (s_axil_bvalid !== 1'b1) @(posedge clk);
            if (s_axil_bresp !== 2'b00) fail("REFUSED", "s_axil_bresp");
        end
    endtask
    task axil_read(input [%[1]d:0] addr);
        begin
            s_axil_arvalid <= 1'b1;
            s_axil_araddr  <= addr;
            patience = 0;
            @(posedge clk);
            while (s_axil_arready !== 1'b1) begin
                patience = patience + 1;
                if (patience > %[2]d) fail("STUCK", "s_axil_ar");
                @(posedge clk);
            end
            s_axil_arvalid <= 1'b0;
            s_axil_araddr  <= {%[3]d{1'bx}};
            while (s_axil_rvalid !== 1'b1) @(posedge clk);
            if (s_axil_rresp !== 2'b00) fail("REFUSED", "s_axil_rresp");
        end
    endtask
    // a start is over when its busy bit is low
    task axil_started(input [%[1]d:0] addr);
        begin
            axil_read(addr);
            while (s_axil_rdata[%[4]d] !== 1'b0) axil_read(addr);
            if (s_axil_rdata[%[5]d] !== 1'b1) fail("REFUSED", "GROUP_CTRL");
        end
    endtask`, addr-1, stuckCycles, addr, b.busy.LSB, b.enabled.LSB)
}

// script writes the phases.
func (b *bench) script() {
	b.printf("\n    initial begin")
	b.printf("        {s_axil_awvalid, s_axil_wvalid, s_axil_arvalid} = 3'b000;")
	b.printf("        {s_axil_bready, s_axil_rready} = 2'b11;")
	for i, ph := range b.s.phases {
		b.printf("        phase = %d; // %s", i, ph.name)
		b.printf("        $display(\"PHASE %d cycle %%0d in %%0d\", cycle, frames_in);", i)
		if ph.reset {
			b.printf("        %s <= 1'b1;\n        repeat (%d) @(posedge clk);\n        %[1]s <= 1'b0;", b.man.Clock.Reset, resetCycles)
			for k := range b.names {
				from := 0
				if i > 0 {
					from = b.ends[i-1][k]
				}
				b.printf("        at%d = %d; until%d = %d;", k, from, k, from)
			}
			b.printf("        @(posedge clk);\n        watch = 1'b1;")
		}
		for _, w := range ph.writes {
			b.printf("        axil_write(32'h%x, 32'h%x);", w.addr, w.value)
			if reg, k, ok := b.man.Find(w.addr); ok && reg.Name == "GROUP_CTRL" {
				b.printf("        axil_started(32'h%x);", b.status.At(k))
			}
		}
		b.printf("        pause = %d;", ph.pause)
		var waits []string
		for k := range b.names {
			b.printf("        until%d = %d;", k, b.ends[i][k])
			waits = append(waits, fmt.Sprintf("at%d < until%d", k, k))
		}
		if ph.cut {
			from := 0
			if i > 0 {
				from = b.ends[i-1][0]
			}
			b.printf("        while (at0 < %d) @(posedge clk);", from+(b.ends[i][0]-from)/3)
			continue
		}
		b.printf("        while (%s) @(posedge clk);", strings.Join(waits, " || "))
		rest := restCycles
		if b.man.Params.Pipes() {
			rest = pipesRestCycles
		}
		b.printf("        repeat (%d) @(posedge clk);", rest)
	}
	for _, addr := range b.s.reads {
		b.printf("        axil_read(32'h%x);", addr)
	}
	b.printf("        $display(\"DONE cycles %%0d in %%0d out %%0d made %%0d\", cycle, frames_in, frames_out, made);")
	b.printf("        $finish;\n    end")
}
