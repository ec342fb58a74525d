// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_contain: keeps an engine that lost a word of a table or of its state from doing anything with it.
//
// Contract
//   halt        while it is high no group is live for the blocks that decide, and a frame of the engine that begins is taken and goes nowhere.
//               One that has begun goes on: its header was read, and its fate decided, before
//   bypass      a frame that LookupTable would bypass does not leave, if a word that it was looked up by is lost, as look_lost said a cycle
//               before: nobody knows whose it is
//   latency     0 cycles from s_ to m_, and from live_in and bypass_in to live and bypass
//   throughput  1 beat per cycle
//   stall       m_ready low keeps the beat offered, unless its frame goes nowhere
//   reset       outside a frame
//   not done    nothing is counted here
`default_nettype none

module inc_ecc_contain #(
    // bits of a beat with all its sidebands but its end
    parameter WIDTH  = 8,
    // groups
    parameter GROUPS = 2
) (
    input  wire              clk,
    input  wire              rst,

    input  wire              halt,

    input  wire [GROUPS-1:0] live_in,
    output wire [GROUPS-1:0] live,

    input  wire              look_lost,
    input  wire              bypass_in,
    output wire              bypass,

    input  wire              s_valid,
    output wire              s_ready,
    input  wire              s_last,
    input  wire [WIDTH-1:0]  s_data,
    output wire              m_valid,
    input  wire              m_ready,
    output wire              m_last,
    output wire [WIDTH-1:0]  m_data
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_ecc_contain: WIDTH must be at least 1");
        end
        if (GROUPS < 1) begin : gen_bad_groups
            $error("inc_ecc_contain: GROUPS must be at least 1");
        end
    endgenerate
`endif

    reg  lost_reg;
    assign live   = live_in & {GROUPS{!halt}};
    assign bypass = bypass_in && !lost_reg;

    reg  inside_reg;                 // the next beat is not its frame's first
    reg  sunk_reg;                   // the frame goes nowhere
    wire sunk = inside_reg ? sunk_reg : halt;

    assign m_valid = s_valid && !sunk;
    assign s_ready = m_ready || sunk;
    assign m_last  = s_last;
    assign m_data  = s_data;

    always @(posedge clk) begin
        lost_reg <= look_lost;
        if (s_valid && s_ready) begin
            inside_reg <= !s_last;
            sunk_reg   <= sunk;
        end
        if (rst) begin
            inside_reg <= 1'b0;
            sunk_reg   <= 1'b0;
        end
    end

endmodule

`default_nettype wire
