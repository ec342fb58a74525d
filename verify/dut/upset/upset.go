// SPDX-License-Identifier: Apache-2.0

package upset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"incforge/contract"
)

// Pins is how many pins of memory_pins a command takes.
const Pins = 64

// Command is what a memory is told.
type Command struct {
	// Memory is its ID.
	Memory uint16
	// Word is the address, A and B are the places of bits in the stored word, check bits included.
	Word, A, B int
	// Flip inverts bit A, with Two also bit B: of the Word, or with Next of the word that is read next, just before it is read.
	// Restore puts back what was last written where a bit was inverted last, and takes back what waits for a read.
	Flip, Two, Next, Restore bool
}

// places of the command's parts on the pins, from bit 0 on: flip, restore, two; the highest is next
const (
	atMemory = 3
	atWord   = 19
	atA      = 35
	atB      = 49
	atNext   = 63
)

// Encode is the command as the pins carry it.
func (c Command) Encode() uint64 {
	bit := func(v bool, at int) uint64 {
		if v {
			return 1 << at
		}
		return 0
	}
	return bit(c.Flip, 0) | bit(c.Restore, 1) | bit(c.Two, 2) | bit(c.Next, atNext) | uint64(c.Memory)<<atMemory | uint64(c.Word)<<atWord | uint64(c.A)<<atA | uint64(c.B)<<atB
}

// ID is the number of the memory at a path, as its model makes it of its own name in the simulation.
func ID(path string) uint16 {
	id := uint16(0)
	for _, c := range []byte(path) {
		id = id*31 + uint16(c)
	}
	return id
}

// model is the body of a memory's model; the words in capitals are replaced. What is written in the same cycle is not upset.
const model = `
    reg [15:0]       upset_id;
    string           upset_path;
    initial begin
        upset_path = $sformatf("%m");
        upset_id   = 16'd0;
        for (int i = 0; i < upset_path.len(); i++) begin
            upset_id = upset_id * 16'd31 + 16'(upset_path.getc(i));
        end
    end

    reg [BITS-1:0]   rdata_reg;
    reg [BITS-1:0]   mem [0:WORDS-1];
    reg [BITS-1:0]   written [0:WORDS-1];
    assign rdata = rdata_reg;

    wire             named = (mem_pins[0] || mem_pins[1]) && mem_pins[18:3] == upset_id;
    reg              heard;         // a command stands for more than one cycle where clocks differ
    wire             here = named && !heard;
    wire [BITS-1:0]  one  = {{(BITS-1){1'b0}}, 1'b1};
    wire [BITS-1:0]  mask = (one << mem_pins[48:35]) ^ (mem_pins[2] ? one << mem_pins[62:49] : {BITS{1'b0}});
    wire [ADDR_W-1:0] word = mem_pins[19 +: ADDR_W];
    reg [BITS-1:0]   waits;         // to be inverted in the next word that is read
    reg              set, fired, upset;
    reg [ADDR_W-1:0] at, read_at;
    initial begin
        heard = 1'b0;
        set   = 1'b0;
        fired = 1'b0;
        upset = 1'b0;
    end
    wire             fires = set != fired && READS && !(here && mem_pins[1]);

    always @(posedge WCLK) begin
        heard <= named;
        if (WRITES) begin
            mem[WADDR]     <= wdata;
            written[WADDR] <= wdata;
        end
        if (here && mem_pins[0] && mem_pins[63]) begin
            set   <= !fired;
            waits <= mask;
            upset <= 1'b0;
        end else if (here && mem_pins[0] && !(WRITES && WADDR == word)) begin
            mem[word] <= mem[word] ^ mask;
            at        <= word;
            upset     <= 1'b1;
        end else if (here && mem_pins[1]) begin
            set <= fired;
            if (!(WRITES && WADDR == (upset ? at : read_at))) begin
                mem[upset ? at : read_at] <= written[upset ? at : read_at];
            end
        end
    end
    always @(posedge RCLK) begin
        if (READS) begin
            rdata_reg <= mem[RADDR] ^ (fires ? waits : {BITS{1'b0}});
        end
        if (fires) begin
            fired   <= set;
            read_at <= RADDR;
            if (!(WRITES && WADDR == RADDR)) begin
                mem[RADDR] <= mem[RADDR] ^ waits;
            end
        end
    end

endmodule

` + "`default_nettype wire\n"

// body is a memory's model, with its clocks and when it writes where and reads where.
func body(wclk, writes, waddr, rclk, reads, raddr string) string {
	return strings.NewReplacer("WCLK", wclk, "WRITES", writes, "WADDR", waddr, "RCLK", rclk, "READS", reads, "RADDR", raddr).Replace(model)
}

// bodies are those of the models, by the memories' names.
func bodies() map[string]string {
	return map[string]string{
		"inc_ram_1r1w.v": body("clk", "we", "waddr", "clk", "re", "raddr"),
		"inc_ram_1rw.v":  body("clk", "(en && we)", "addr", "clk", "(en && !we)", "addr"),
		"inc_ram_2c.v":   body("wclk", "we", "waddr", "rclk", "re", "raddr"),
	}
}

// Replace returns the files of a design with models in the places of its memories; they are written below dir.
func Replace(m *contract.Manifest, files []string, dir string) ([]string, error) {
	if m.Params.MemoryPins < Pins {
		return nil, fmt.Errorf("memories are reached by %d pins: the design has memory_pins: %d", Pins, m.Params.MemoryPins)
	}
	out := slices.Clone(files)
	for i, name := range out {
		with, ok := bodies()[filepath.Base(name)]
		if !ok {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("model of a memory: %w", err)
		}
		end := bytes.Index(text, []byte(");\n"))
		if end < 0 {
			return nil, fmt.Errorf("model of a memory: %s has no list of ports", name)
		}
		out[i] = filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(out[i], append(slices.Clone(text[:end+3]), with...), 0o644); err != nil {
			return nil, fmt.Errorf("model of a memory: %w", err)
		}
	}
	return out, nil
}

// Target is a memory that can be upset.
type Target struct {
	contract.Memory
	ID uint16
}

// Targets are the memories below a top, each with a number of its own: that of its name in the simulation.
func Targets(m *contract.Manifest, top string) ([]Target, error) {
	prefix, ok := m.Tops[top]
	if !ok {
		return nil, fmt.Errorf("there is no top %q", top)
	}
	taken := map[uint16]string{}
	var out []Target
	for _, mem := range m.Memories {
		path := mem.Path
		if top == contract.TopCore {
			var in bool
			if path, in = strings.CutPrefix(path, "u_core."); !in {
				continue
			}
		}
		t := Target{Memory: mem, ID: ID("TOP." + prefix.Module + "." + path)}
		if other, ok := taken[t.ID]; ok {
			return nil, fmt.Errorf("memories %s and %s have one number", other, mem.Path)
		}
		taken[t.ID] = mem.Path
		out = append(out, t)
	}
	return out, nil
}
