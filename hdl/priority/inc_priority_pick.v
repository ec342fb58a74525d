// SPDX-License-Identifier: Apache-2.0
//
// inc_priority_pick: what leaves by a port next: of the queues that have a frame and are not paused, the one of the highest priority.
//
// Contract
//   latency     0 cycles
//   throughput  1 beat per cycle, no bubbles between frames; a frame leaves without a gap if its queue has none
//   choice      strict: a priority waits as long as a higher one has frames and is not paused. A frame that was offered leaves whole before
//               another begins, whatever pauses
//   stall       m_axis_tready low keeps the beat offered
//   reset       between frames
//   not done    no register in the way of a beat; no shares of the line between priorities
`default_nettype none

module inc_priority_pick #(
    // bytes of a beat, at least 1
    parameter BYTES      = 8,
    // number of priorities, 2 to 8
    parameter PRIORITIES = 2,
    // 1: a frame has err beside its last beat, which goes with it
    parameter ERR        = 0
) (
    input  wire                          clk,
    input  wire                          rst,

    // priority i at [i*width +: width]
    input  wire [PRIORITIES*8*BYTES-1:0] s_axis_tdata,
    input  wire [PRIORITIES*BYTES-1:0]   s_axis_tkeep,
    input  wire [PRIORITIES-1:0]         s_axis_tvalid,
    output wire [PRIORITIES-1:0]         s_axis_tready,
    input  wire [PRIORITIES-1:0]         s_axis_tlast,
    input  wire [PRIORITIES-1:0]         s_err,

    // while a bit is high, no frame of that priority begins
    input  wire [PRIORITIES-1:0]         pause,

    output wire [8*BYTES-1:0]            m_axis_tdata,
    output wire [BYTES-1:0]              m_axis_tkeep,
    output wire                          m_axis_tvalid,
    input  wire                          m_axis_tready,
    output wire                          m_axis_tlast,
    output wire                          m_err
);

`ifndef __ICARUS__
    generate
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_priority_pick: BYTES must be at least 1");
        end
        if (PRIORITIES < 2 || PRIORITIES > 8) begin : gen_bad_priorities
            $error("inc_priority_pick: PRIORITIES must be 2 to 8");
        end
        if (ERR < 0 || ERR > 1) begin : gen_bad_err
            $error("inc_priority_pick: ERR must be 0 or 1");
        end
    endgenerate
`endif

    localparam WIDTH = 9*BYTES + 1;

    reg                   busy_reg;
    reg  [PRIORITIES-1:0] last_reg;
    wire [PRIORITIES-1:0] may = s_axis_tvalid & ~pause;
    reg  [PRIORITIES-1:0] highest;
    reg  [WIDTH-1:0]      beat;
    wire [PRIORITIES-1:0] choice = busy_reg ? last_reg : highest;

    integer i;
    always @* begin
        highest = {PRIORITIES{1'b0}};
        for (i = 0; i < PRIORITIES; i = i + 1) begin
            if (may[i]) begin
                highest    = {PRIORITIES{1'b0}};
                highest[i] = 1'b1;
            end
        end
        beat = {WIDTH{1'b0}};
        for (i = 0; i < PRIORITIES; i = i + 1) begin
            beat = beat | ({s_axis_tlast[i], s_axis_tkeep[i*BYTES +: BYTES], s_axis_tdata[i*8*BYTES +: 8*BYTES]} & {WIDTH{choice[i]}});
        end
    end

    assign m_axis_tvalid = (s_axis_tvalid & choice) != {PRIORITIES{1'b0}};
    assign s_axis_tready = choice & {PRIORITIES{m_axis_tready}};
    assign m_axis_tdata  = beat[8*BYTES-1:0];
    assign m_axis_tkeep  = beat[8*BYTES +: BYTES];
    assign m_axis_tlast  = beat[9*BYTES];

    generate
        if (ERR != 0) begin : gen_err
            assign m_err = (s_err & choice) != {PRIORITIES{1'b0}};
        end else begin : gen_no_err
            assign m_err = 1'b0;
            wire unused_err = &{1'b0, s_err};
        end
    endgenerate

    always @(posedge clk) begin
        // a beat once offered stays, so a choice holds from there to the frame's end
        if (m_axis_tvalid) begin
            busy_reg <= !(m_axis_tready && m_axis_tlast);
            last_reg <= choice;
        end
        if (rst) begin
            busy_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
