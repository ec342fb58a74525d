// SPDX-License-Identifier: Apache-2.0
//
// inc_recycle_buffer_sva: one group at most is being started; none lives that is being started, is refused, or is not enabled; slots are there,
// and what a start writes are its own.
`default_nettype none

module inc_recycle_buffer_sva #(
    parameter SLOTS = 16,
    parameter SLOT_W = 4,
    parameter GROUPS = 2
) (
    input wire              clk,
    input wire              rst,

    input wire [GROUPS-1:0] grp_enable,
    input wire [GROUPS-1:0] grp_busy,
    input wire [GROUPS-1:0] grp_live,
    input wire [GROUPS-1:0] grp_refused,
    input wire [3:0]        state_reg,
    input wire [GROUPS-1:0] pending_reg,
    input wire [GROUPS-1:0] current_reg,
    input wire              walk_slot,
    input wire [SLOT_W-1:0] base_reg,
    input wire [SLOT_W-1:0] index_reg,
    input wire [SLOT_W-1:0] walk_at,
    input wire [SLOT_W-1:0] last_reg,
    input wire [SLOT_W:0]   end_reg,
    input wire              rd_en,
    input wire [SLOT_W-1:0] rd_slot,
    input wire              wr_en,
    input wire [SLOT_W-1:0] wr_slot
);

    localparam [SLOT_W:0]   SLOT_COUNT = SLOTS[SLOT_W:0];
    localparam [GROUPS-1:0] NONE       = {GROUPS{1'b0}};
    localparam [3:0]        W_IDLE = 4'd0, W_SLOT = 4'd8, W_PARK = 4'd9;
    wire [GROUPS:0]   others = {1'b0, current_reg} - {{GROUPS{1'b0}}, 1'b1};
    wire              unused = &{1'b0, others[GROUPS]};

    // a start is under way, and not a group's parking or its end: starts go first
    reg               starts_reg;
    wire [GROUPS-1:0] starting = pending_reg | (state_reg == W_IDLE || !starts_reg ? NONE : current_reg);

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg   <= live_reg || rst;
        starts_reg <= state_reg == W_IDLE ? pending_reg != NONE : starts_reg;
        if (live_reg && !rst) begin
            begin : state_is_there assert (state_reg <= W_SLOT || (state_reg == W_PARK && !starts_reg)); end
            begin : one_is_started assert (state_reg == W_IDLE || (current_reg != NONE && (current_reg & others[GROUPS-1:0]) == NONE)); end
            begin : live_is_enabled assert ((grp_live & ~grp_enable) == NONE); end
            begin : started_is_busy assert ((starting & ~grp_busy) == NONE); end
            begin : live_is_not_started assert ((grp_live & starting) == NONE); end
            begin : live_is_not_refused assert ((grp_live & grp_refused) == NONE); end
            begin : read_slot_is_there assert (!rd_en || {1'b0, rd_slot} < SLOT_COUNT); end
            begin : written_slot_is_there assert (!wr_en || {1'b0, wr_slot} < SLOT_COUNT); end
            begin : start_writes_its_own assert (!walk_slot || (index_reg <= last_reg && walk_at >= base_reg && {1'b0, walk_at} < end_reg && end_reg <= SLOT_COUNT)); end
        end
    end

endmodule

`default_nettype wire
