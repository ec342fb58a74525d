// SPDX-License-Identifier: Apache-2.0
//
// inc_cross: one output of the crossbar: of all inputs that want it, frame by frame in turn.
//
// Contract
//   latency     0 cycles
//   throughput  1 beat per cycle, no bubbles between frames
//   inputs      a bit of `want` is high while the input has a beat for this output, which stays until its bit of `take` is high
//   fairness    round robin: an input that waits is served after at most one frame of each other input
//   stall       m_axis_tready low stops all inputs in the same cycle
//   reset       between frames; input 0 counts as the one served last
//   not done    no register in the way of a beat: inc_steer has one before it; inc_fan cuts ready alone
`default_nettype none

module inc_cross #(
    // number of inputs, at least 1
    parameter INPUTS  = 4,
    // bits of an input's number, at least 1
    parameter INPUT_W = 2,
    // bytes of a beat
    parameter BYTES   = 8
) (
    input  wire                      clk,
    input  wire                      rst,

    // input i at [i*width +: width]
    input  wire [INPUTS*8*BYTES-1:0] s_tdata,
    input  wire [INPUTS*BYTES-1:0]   s_tkeep,
    input  wire [INPUTS-1:0]         s_tlast,
    input  wire [INPUTS-1:0]         s_tuser,
    input  wire [INPUTS-1:0]         want,
    output wire [INPUTS-1:0]         take,

    output wire [8*BYTES-1:0]        m_axis_tdata,
    output wire [BYTES-1:0]          m_axis_tkeep,
    output wire                      m_axis_tvalid,
    input  wire                      m_axis_tready,
    output wire                      m_axis_tlast,
    output wire [INPUT_W:0]          m_axis_tuser,

    // a frame's last beat passes, and where it came from
    output wire                      mon_valid,
    output wire [INPUT_W-1:0]        mon_port
);

`ifndef __ICARUS__
    generate
        if (INPUT_W < 1 || INPUTS < 1 || INPUTS > (1 << INPUT_W)) begin : gen_bad_inputs
            $error("inc_cross: INPUTS must be 1 to 2**INPUT_W");
        end
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_cross: BYTES must be at least 1");
        end
    endgenerate
`endif

    localparam [INPUTS-1:0] ONE = 1;

    // The next input to serve is the first that waits behind the last one served; one bit an input.
    reg               busy_reg;
    reg  [INPUTS-1:0] last_reg;
    wire [INPUTS-1:0] behind = ~(last_reg | (last_reg - ONE));
    wire [INPUTS-1:0] high   = want & behind;
    wire [INPUTS-1:0] first  = high & (~high + ONE);
    wire [INPUTS-1:0] lowest = want & (~want + ONE);
    wire [INPUTS-1:0] choice = busy_reg ? last_reg : high != {INPUTS{1'b0}} ? first : lowest;

    reg [8*BYTES-1:0] data;
    reg [BYTES-1:0]   keep;
    reg [INPUT_W-1:0] number;
    integer i;
    always @* begin
        data   = {8*BYTES{1'b0}};
        keep   = {BYTES{1'b0}};
        number = {INPUT_W{1'b0}};
        for (i = 0; i < INPUTS; i = i + 1) begin
            data   = data | (s_tdata[i*8*BYTES +: 8*BYTES] & {8*BYTES{choice[i]}});
            keep   = keep | (s_tkeep[i*BYTES +: BYTES] & {BYTES{choice[i]}});
            number = number | (i[INPUT_W-1:0] & {INPUT_W{choice[i]}});
        end
    end

    assign m_axis_tvalid = (want & choice) != {INPUTS{1'b0}};
    assign take          = choice & {INPUTS{m_axis_tready}};
    assign m_axis_tdata  = data;
    assign m_axis_tkeep  = keep;
    assign m_axis_tlast  = (s_tlast & choice) != {INPUTS{1'b0}};
    assign m_axis_tuser  = {number, (s_tuser & choice) != {INPUTS{1'b0}}};
    assign mon_valid     = m_axis_tvalid && m_axis_tready && m_axis_tlast;
    assign mon_port      = number;

    always @(posedge clk) begin
        // a beat once offered stays, so a choice holds from there to the frame's end
        if (m_axis_tvalid) begin
            busy_reg <= !(m_axis_tready && m_axis_tlast);
            last_reg <= choice;
        end
        if (rst) begin
            busy_reg <= 1'b0;
            last_reg <= ONE;
        end
    end

endmodule

`default_nettype wire
