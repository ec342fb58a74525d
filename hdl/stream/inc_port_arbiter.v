// SPDX-License-Identifier: Apache-2.0
//
// inc_port_arbiter: merges the streams of all ports into one, frame by frame in turn.
//
// Contract
//   latency     0 cycles while one port sends and nothing waits
//   throughput  1 beat per cycle, no bubbles between frames
//   fairness    round robin: a port that waits is served after at most one frame of each other port
//   stall       m_axis_tready low, or another port's turn, stops a port one cycle later
//   reset       between frames, empty; port 0 counts as the one served last
//   not done    no weights and no limit on a frame's length: a port that pauses inside a frame keeps the others waiting
`default_nettype none

module inc_port_arbiter #(
    // number of ports, at least 1
    parameter PORTS  = 4,
    // bits of a port number, at least 1
    parameter PORT_W = 2,
    // bytes of a beat
    parameter BYTES  = 8
) (
    input  wire                     clk,
    input  wire                     rst,

    // port p at [p*width +: width]
    input  wire [PORTS*8*BYTES-1:0] s_axis_tdata,
    input  wire [PORTS*BYTES-1:0]   s_axis_tkeep,
    input  wire [PORTS-1:0]         s_axis_tvalid,
    output wire [PORTS-1:0]         s_axis_tready,
    input  wire [PORTS-1:0]         s_axis_tlast,
    input  wire [PORTS-1:0]         s_axis_tuser,

    output wire [8*BYTES-1:0]       m_axis_tdata,
    output wire [BYTES-1:0]         m_axis_tkeep,
    output wire                     m_axis_tvalid,
    input  wire                     m_axis_tready,
    output wire                     m_axis_tlast,
    output wire [PORT_W:0]          m_axis_tuser,

    // a frame's last beat passes, and where it came from
    output wire                     mon_valid,
    output wire [PORT_W-1:0]        mon_port
);

`ifndef __ICARUS__
    generate
        if (PORT_W < 1 || PORTS < 1 || PORTS > (1 << PORT_W)) begin : gen_bad_ports
            $error("inc_port_arbiter: PORTS must be 1 to 2**PORT_W");
        end
        if (BYTES < 1) begin : gen_bad_bytes
            $error("inc_port_arbiter: BYTES must be at least 1");
        end
    endgenerate
`endif

    localparam WIDTH = 9*BYTES + 2;

    wire [PORTS-1:0] valid;
    wire [PORTS-1:0] ready;

    genvar p;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : gen_port
            wire [WIDTH-1:0] beat;
            inc_skid #(.WIDTH(WIDTH)) u_skid (
                .clk     (clk),
                .rst     (rst),
                .s_data  ({s_axis_tuser[p], s_axis_tlast[p], s_axis_tkeep[p*BYTES +: BYTES], s_axis_tdata[p*8*BYTES +: 8*BYTES]}),
                .s_valid (s_axis_tvalid[p]),
                .s_ready (s_axis_tready[p]),
                .m_data  (beat),
                .m_valid (valid[p]),
                .m_ready (ready[p])
            );
        end
    endgenerate

    // The next port to serve is the first that waits behind the last one served.
    reg               busy_reg;
    reg  [PORT_W-1:0] port_reg;
    reg  [PORT_W-1:0] choice;
    reg  [PORT_W-1:0] low, high;
    reg               any_high;
    integer i;
    always @* begin
        low      = {PORT_W{1'b0}};
        high     = {PORT_W{1'b0}};
        any_high = 1'b0;
        for (i = PORTS - 1; i >= 0; i = i - 1) begin
            if (valid[i]) begin
                low = i[PORT_W-1:0];
                if (i[PORT_W-1:0] > port_reg) begin
                    high     = i[PORT_W-1:0];
                    any_high = 1'b1;
                end
            end
        end
        choice = busy_reg ? port_reg : any_high ? high : low;
    end

    // The chosen port's beat: choices of two, a level for each bit of the port's number. An index into one word of all beats takes
    // Yosys twice the cells, and Verilator an eighth of the time of fpga100g's cycle.
    wire [WIDTH-1:0] chosen;
    genvar l;
    generate
        for (l = 0; l <= PORT_W; l = l + 1) begin : gen_level
            localparam NODES = (PORTS + (1 << l) - 1) >> l;
            for (p = 0; p < NODES; p = p + 1) begin : gen_node
                wire [WIDTH-1:0] beat;
                if (l == 0) begin : gen_leaf
                    assign beat = gen_port[p].beat;
                end else if ((2*p + 1) << (l - 1) < PORTS) begin : gen_two
                    assign beat = choice[l-1] ? gen_level[l-1].gen_node[2*p+1].beat : gen_level[l-1].gen_node[2*p].beat;
                end else begin : gen_one
                    assign beat = gen_level[l-1].gen_node[2*p].beat;
                end
            end
        end
        if (PORTS >= 1) begin : gen_chosen
            assign chosen = gen_level[PORT_W].gen_node[0].beat;
        end
    endgenerate

    wire [PORTS-1:0] at;          // the chosen port, one bit

    generate
        for (p = 0; p < PORTS; p = p + 1) begin : gen_ready
            localparam [PORT_W-1:0] P = p;
            assign at[p]    = choice == P;
            assign ready[p] = m_axis_tready && at[p];
        end
    endgenerate

    assign m_axis_tvalid = |(valid & at);
    assign m_axis_tdata  = chosen[8*BYTES-1:0];
    assign m_axis_tkeep  = chosen[8*BYTES +: BYTES];
    assign m_axis_tlast  = chosen[9*BYTES];
    assign m_axis_tuser  = {choice, chosen[9*BYTES+1]};
    assign mon_valid     = m_axis_tvalid && m_axis_tready && m_axis_tlast;
    assign mon_port      = choice;

    always @(posedge clk) begin
        // a beat once offered stays, so a choice holds from there to the frame's end
        if (m_axis_tvalid) begin
            busy_reg <= !(m_axis_tready && m_axis_tlast);
            port_reg <= choice;
        end
        if (rst) begin
            busy_reg <= 1'b0;
            port_reg <= {PORT_W{1'b0}};
        end
    end

endmodule

`default_nettype wire
