// SPDX-License-Identifier: Apache-2.0
//
// inc_skid: cuts the ready path of a stream at no cost in latency.
//
// Contract
//   latency     0 cycles from s to m while nothing waits
//   throughput  1 beat per cycle, no bubbles
//   ordering    first in, first out
//   stall       m_ready low stops s one cycle later; the beat under way is kept
//   reset       empty; s_ready low while rst is high
//   not done    does not cut the valid and data paths
`default_nettype none

module inc_skid #(
    // bits of a beat with all its sidebands, at least 1
    parameter WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,

    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,
    output wire             s_ready,

    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_skid: WIDTH must be at least 1");
        end
    endgenerate
`endif

    reg [WIDTH-1:0] kept_reg;
    reg             kept_valid_reg;
    reg             ready_reg;

    assign s_ready = ready_reg;
    assign m_valid = kept_valid_reg || (s_valid && ready_reg);
    assign m_data  = kept_valid_reg ? kept_reg : s_data;

    always @(posedge clk) begin
        if (s_valid && ready_reg && !m_ready) begin
            kept_reg       <= m_data;    // which is s_data now: the beat on its way is chosen once
            kept_valid_reg <= 1'b1;
        end else if (m_ready) begin
            kept_valid_reg <= 1'b0;
        end
        ready_reg <= m_ready || !m_valid;

        if (rst) begin
            kept_valid_reg <= 1'b0;
            ready_reg      <= 1'b0;
        end
    end

endmodule

`default_nettype wire
