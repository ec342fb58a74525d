// SPDX-License-Identifier: Apache-2.0
//
// inc_port_regs: the ports' counters, between the register bus and the engine's registers.
//
// Contract
//   access      addresses 0x4000 to 0x43FF are answered here, all others by whoever is behind m_axil, whose answer comes back as it is.
//               Counter k of port p is at 0x4000 + 128 k + 4 p; an address without one, and a write with any strobe low, is answered
//               SLVERR. A write to a counter is answered OKAY and does nothing; the low two bits of an address are not looked at
//   latency     write response 2 cycles after address and data are both there, read data 4 cycles after the address; 3 cycles more than it
//               takes there for what is behind m_axil
//   throughput  one write and one read at a time, independent of each other
//   bus         every output is a flip-flop; nothing goes from an input to an output in a cycle
//   stall       an answer waits for bready or rready
//   counters    of 32 bits, step by one for every cycle in which their bit of `count` is high, and wrap
//   reset       all counters 0, nothing under way
//   not done    one read and one write at a time reach m_axil
`default_nettype none

module inc_port_regs #(
    // bits of a byte address, 16 to 22
    parameter AXIL_W = 16,
    // number of ports, 1 to 32
    parameter PORTS  = 4,
    // counters of a port, 1 to 8
    parameter KINDS  = 7
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire [AXIL_W-1:0]      s_axil_awaddr,
    input  wire                   s_axil_awvalid,
    output wire                   s_axil_awready,
    input  wire [31:0]            s_axil_wdata,
    input  wire [3:0]             s_axil_wstrb,
    input  wire                   s_axil_wvalid,
    output wire                   s_axil_wready,
    output wire [1:0]             s_axil_bresp,
    output wire                   s_axil_bvalid,
    input  wire                   s_axil_bready,
    input  wire [AXIL_W-1:0]      s_axil_araddr,
    input  wire                   s_axil_arvalid,
    output wire                   s_axil_arready,
    output wire [31:0]            s_axil_rdata,
    output wire [1:0]             s_axil_rresp,
    output wire                   s_axil_rvalid,
    input  wire                   s_axil_rready,

    output wire [AXIL_W-1:0]      m_axil_awaddr,
    output wire                   m_axil_awvalid,
    input  wire                   m_axil_awready,
    output wire [31:0]            m_axil_wdata,
    output wire [3:0]             m_axil_wstrb,
    output wire                   m_axil_wvalid,
    input  wire                   m_axil_wready,
    input  wire [1:0]             m_axil_bresp,
    input  wire                   m_axil_bvalid,
    output wire                   m_axil_bready,
    output wire [AXIL_W-1:0]      m_axil_araddr,
    output wire                   m_axil_arvalid,
    input  wire                   m_axil_arready,
    input  wire [31:0]            m_axil_rdata,
    input  wire [1:0]             m_axil_rresp,
    input  wire                   m_axil_rvalid,
    output wire                   m_axil_rready,

    // counter k of port p at [p*KINDS + k]
    input  wire [PORTS*KINDS-1:0] count
);

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 22) begin : gen_bad_axil
            $error("inc_port_regs: AXIL_W must be 16 to 22");
        end
        if (PORTS < 1 || PORTS > 32) begin : gen_bad_ports
            $error("inc_port_regs: PORTS must be 1 to 32");
        end
        if (KINDS < 1 || KINDS > 8) begin : gen_bad_kinds
            $error("inc_port_regs: KINDS must be 1 to 8");
        end
    endgenerate
`endif

    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;
    localparam [AXIL_W-11:0] HERE = 16;           // 0x4000 in pages of 1,024 bytes
    localparam [5:0] NUM_PORTS = PORTS[5:0];
    localparam [3:0] NUM_KINDS = KINDS[3:0];

    // Whether there is a counter at a place of the page, in words.
    function exists(input [7:0] place);
        exists = {1'b0, place[4:0]} < NUM_PORTS && {1'b0, place[7:5]} < NUM_KINDS;
    endfunction

    wire [32*PORTS*KINDS-1:0] counters;
    genvar g;
    generate
        for (g = 0; g < PORTS*KINDS; g = g + 1) begin : gen_counter
            reg [31:0] counter_reg;
            assign counters[32*g +: 32] = counter_reg;
            always @(posedge clk) begin
                if (count[g]) begin
                    counter_reg <= counter_reg + 32'd1;
                end
                if (rst) begin
                    counter_reg <= 32'd0;
                end
            end
        end
    endgenerate

    // Writes: address and data are collected, then answered here or passed on.
    localparam [1:0] W_IDLE = 2'd0, W_SENT = 2'd1, W_ANSWER = 2'd2;
    reg [1:0]        w_state_reg;
    reg              aw_have_reg, w_have_reg;
    reg [AXIL_W-1:0] aw_reg;
    reg [31:0]       w_data_reg;
    reg [3:0]        w_strb_reg;
    reg              m_aw_reg, m_w_reg;
    reg [1:0]        b_reg;
    reg              on_reg;

    assign s_axil_awready = on_reg && !aw_have_reg;
    assign s_axil_wready  = on_reg && !w_have_reg;
    assign s_axil_bvalid  = w_state_reg == W_ANSWER;
    assign s_axil_bresp   = b_reg;
    assign m_axil_awaddr  = aw_reg;
    assign m_axil_wdata   = w_data_reg;
    assign m_axil_wstrb   = w_strb_reg;
    assign m_axil_awvalid = m_aw_reg;
    assign m_axil_wvalid  = m_w_reg;
    assign m_axil_bready  = w_state_reg == W_SENT;

    always @(posedge clk) begin
        on_reg <= 1'b1;
        if (s_axil_awvalid && s_axil_awready) begin
            aw_have_reg <= 1'b1;
            aw_reg      <= s_axil_awaddr;
        end
        if (s_axil_wvalid && s_axil_wready) begin
            w_have_reg <= 1'b1;
            w_data_reg <= s_axil_wdata;
            w_strb_reg <= s_axil_wstrb;
        end
        case (w_state_reg)
            W_IDLE: begin
                if (aw_have_reg && w_have_reg) begin
                    if (aw_reg[AXIL_W-1:10] == HERE) begin
                        b_reg       <= exists(aw_reg[9:2]) && w_strb_reg == 4'hF ? OKAY : SLVERR;
                        w_state_reg <= W_ANSWER;
                    end else begin
                        m_aw_reg    <= 1'b1;
                        m_w_reg     <= 1'b1;
                        w_state_reg <= W_SENT;
                    end
                end
            end
            W_SENT: begin
                if (m_axil_awready) begin
                    m_aw_reg <= 1'b0;
                end
                if (m_axil_wready) begin
                    m_w_reg <= 1'b0;
                end
                if (m_axil_bvalid) begin
                    b_reg       <= m_axil_bresp;
                    w_state_reg <= W_ANSWER;
                end
            end
            default: begin
                if (s_axil_bready) begin
                    aw_have_reg <= 1'b0;
                    w_have_reg  <= 1'b0;
                    w_state_reg <= W_IDLE;
                end
            end
        endcase

        if (rst) begin
            on_reg      <= 1'b0;
            aw_have_reg <= 1'b0;
            w_have_reg  <= 1'b0;
            m_aw_reg    <= 1'b0;
            m_w_reg     <= 1'b0;
            w_state_reg <= W_IDLE;
        end
    end

    // Reads: of a counter in two steps, all kinds of the port first.
    localparam [2:0] R_IDLE = 3'd0, R_SENT = 3'd1, R_PORT = 3'd2, R_KIND = 3'd3, R_ANSWER = 3'd4;
    reg [2:0]          r_state_reg;
    reg                ar_have_reg;
    reg [AXIL_W-1:0]   ar_reg;
    reg                m_ar_reg;
    reg [31:0]         r_data_reg;
    reg [1:0]          r_resp_reg;
    reg [32*KINDS-1:0] of_port;
    reg [32*KINDS-1:0] of_port_reg;
    reg [31:0]         of_kind;
    wire [7:0]         place = ar_reg[9:2];

    assign s_axil_arready = on_reg && !ar_have_reg;
    assign s_axil_rvalid  = r_state_reg == R_ANSWER;
    assign s_axil_rdata   = r_data_reg;
    assign s_axil_rresp   = r_resp_reg;
    assign m_axil_araddr  = ar_reg;
    assign m_axil_arvalid = m_ar_reg;
    assign m_axil_rready  = r_state_reg == R_SENT;

    integer p, k;
    always @* begin
        of_port = {(32*KINDS){1'b0}};
        for (p = 0; p < PORTS; p = p + 1) begin
            for (k = 0; k < KINDS; k = k + 1) begin
                if (place[4:0] == p[4:0]) begin
                    of_port[32*k +: 32] = counters[32*(p*KINDS + k) +: 32];
                end
            end
        end
        of_kind = 32'd0;
        for (k = 0; k < KINDS; k = k + 1) begin
            if (place[7:5] == k[2:0]) begin
                of_kind = of_port_reg[32*k +: 32];
            end
        end
    end

    always @(posedge clk) begin
        if (s_axil_arvalid && s_axil_arready) begin
            ar_have_reg <= 1'b1;
            ar_reg      <= s_axil_araddr;
        end
        case (r_state_reg)
            R_IDLE: begin
                if (ar_have_reg) begin
                    if (ar_reg[AXIL_W-1:10] == HERE) begin
                        r_state_reg <= R_PORT;
                    end else begin
                        m_ar_reg    <= 1'b1;
                        r_state_reg <= R_SENT;
                    end
                end
            end
            R_SENT: begin
                if (m_axil_arready) begin
                    m_ar_reg <= 1'b0;
                end
                if (m_axil_rvalid) begin
                    r_data_reg  <= m_axil_rdata;
                    r_resp_reg  <= m_axil_rresp;
                    r_state_reg <= R_ANSWER;
                end
            end
            R_PORT: begin
                of_port_reg <= of_port;
                r_state_reg <= R_KIND;
            end
            R_KIND: begin
                r_data_reg  <= of_kind;
                r_resp_reg  <= exists(place) ? OKAY : SLVERR;
                r_state_reg <= R_ANSWER;
            end
            default: begin
                if (s_axil_rready) begin
                    ar_have_reg <= 1'b0;
                    r_state_reg <= R_IDLE;
                end
            end
        endcase

        if (rst) begin
            ar_have_reg <= 1'b0;
            m_ar_reg    <= 1'b0;
            r_state_reg <= R_IDLE;
        end
    end

endmodule

`default_nettype wire
