// SPDX-License-Identifier: Apache-2.0
//
// inc_mac_guard: takes beats from a MAC that cannot wait to a port that may not be ready, and marks what was torn.
//
// Contract
//   latency     0 cycles
//   throughput  1 beat per cycle
//   torn        a beat that comes while the port is not ready is gone, and `lost` is high. The next tlast that the port takes has err, so that it drops
//               what is left; if it was the tlast that was lost, the frame behind it is dropped with it
//   stall       none toward the MAC. Toward the port an offered beat may vanish, as nothing can hold the MAC
//   reset       nothing torn
//   not done    no memory: a port with port_drop is always ready but behind a reset, and loses nothing here
`default_nettype none

module inc_mac_guard #(
    // bytes of a beat, at least 1
    parameter BYTES = 64
) (
    input  wire               clk,
    input  wire               rst,

    input  wire [8*BYTES-1:0] s_tdata,
    input  wire [BYTES-1:0]   s_tkeep,
    input  wire               s_tvalid,
    input  wire               s_tlast,
    input  wire               s_tuser,

    output wire [8*BYTES-1:0] m_tdata,
    output wire [BYTES-1:0]   m_tkeep,
    output wire               m_tvalid,
    input  wire               m_tready,
    output wire               m_tlast,
    output wire               m_tuser,

    // a beat is gone
    output wire               lost
);

`ifndef __ICARUS__
    generate
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_mac_guard: BYTES must be at least 1");
        end
    endgenerate
`endif

    reg torn_reg;

    assign m_tdata  = s_tdata;
    assign m_tkeep  = s_tkeep;
    assign m_tvalid = s_tvalid;
    assign m_tlast  = s_tlast;
    assign m_tuser  = s_tuser || torn_reg;
    assign lost     = s_tvalid && !m_tready;

    always @(posedge clk) begin
        if (lost) begin
            torn_reg <= 1'b1;
        end else if (s_tvalid && s_tlast) begin
            torn_reg <= 1'b0;
        end
        if (rst) begin
            torn_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
