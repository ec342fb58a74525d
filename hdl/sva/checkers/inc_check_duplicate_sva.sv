// SPDX-License-Identifier: Apache-2.0
//
// inc_check_duplicate_sva: a frame that is not committed changes nothing; nobody contributes, and nothing is sent, without a role in the group;
// what is pushed finds room; every frame is counted as one thing.
`default_nettype none

module inc_check_duplicate_sva #(
    parameter MASK_W = 5,
    parameter COUNTERS = 46,
    parameter C_RX_FRAMES = 0,
    parameter C_BYPASS = 1,
    parameter C_UP_DATA = 2,
    parameter C_AGG = 3,
    parameter C_BUFFERED = 4,
    parameter C_WIPE = 5,
    parameter C_TX_RESULT = 6,
    parameter C_TX_RESEND = 7,
    parameter C_DOWN_DATA = 8,
    parameter C_RX_ACK = 9,
    parameter C_RX_NAK = 10,
    parameter C_RX_RNR = 11,
    parameter C_RX_CNP = 12,
    parameter C_DROP_FOREIGN = 13,
    parameter C_DROP_SYNDROME = 14,
    parameter C_DROP_GAP = 15,
    parameter C_DROP_STALE = 16,
    parameter C_DROP_WINDOW = 17,
    parameter C_DROP_SHAPE = 18,
    parameter C_TX_REACK = 19,
    parameter C_DROP_RANGE = 20,
    parameter C_DROP_BAD_CONTROL = 21,
    parameter C_DROP_CONTROL = 22,
    parameter C_DROP_STALE_ACK = 23
) (
    input wire                clk,
    input wire                rst,

    input wire [MASK_W-1:0]   b_self,
    input wire [MASK_W-1:0]   b_in_mask,
    input wire [MASK_W-1:0]   b_out_mask,
    input wire [MASK_W-1:0]   b_parent_mask,
    input wire                b_go,
    input wire                c_valid,
    input wire [MASK_W-1:0]   c_self,
    input wire                c_accept,
    input wire                c_opened,
    input wire                c_leaves,
    input wire                vrd_valid,
    input wire                vrd_pop,
    input wire                good,
    input wire                ep_we,
    input wire                done_we,
    input wire                wr_en,
    input wire [MASK_W-1:0]   wr_mask,
    input wire                ack_we,
    input wire                ack_lift,
    input wire                ctl_open,
    input wire                tx_room,
    input wire                tx_valid,
    input wire [MASK_W-1:0]   tx_mask,
    input wire                work_held,
    input wire                work_put,
    input wire                work_commits,
    input wire                work_kills,
    input wire                init_valid,
    input wire                init_take,
    input wire                init_waits,
    input wire                ep_late,
    input wire                rd_en,
    input wire                ack_rd,
    input wire                ack_waits,
    input wire [COUNTERS-1:0] count
);

    localparam [MASK_W-1:0] NOBODY = {MASK_W{1'b0}};

    // the roles of the frame in C: whether its endpoint is in the mask of those who contribute, and who is in the group at all
    reg              in_reg;
    reg [MASK_W-1:0] all_reg;

    // what a frame was: one thing, and what data from a child came to
    reg [5:0] things, outcomes;
    integer   n;
    always @* begin
        things   = {5'd0, count[C_BYPASS]} + {5'd0, count[C_UP_DATA]} + {5'd0, count[C_DOWN_DATA]} + {5'd0, count[C_RX_ACK]}
                   + {5'd0, count[C_RX_NAK]} + {5'd0, count[C_RX_RNR]} + {5'd0, count[C_RX_CNP]} + {5'd0, count[C_TX_REACK]}
                   + {5'd0, count[C_DROP_RANGE]} + {5'd0, count[C_DROP_BAD_CONTROL]} + {5'd0, count[C_DROP_CONTROL]}
                   + {5'd0, count[C_DROP_STALE_ACK]};
        for (n = C_DROP_FOREIGN; n <= C_DROP_SYNDROME; n = n + 1) begin
            things = things + {5'd0, count[n]};
        end
        outcomes = {5'd0, count[C_AGG]} + {5'd0, count[C_TX_RESEND]} + {5'd0, count[C_DROP_GAP]} + {5'd0, count[C_DROP_STALE]}
                   + {5'd0, count[C_DROP_WINDOW]} + {5'd0, count[C_DROP_SHAPE]};
    end

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        if (b_go) begin
            in_reg  <= (b_self & b_in_mask) != NOBODY;
            all_reg <= b_self | b_in_mask | b_out_mask | b_parent_mask;
        end
        if (live_reg && !rst) begin
            begin : verdict_is_there assert (!vrd_pop || (vrd_valid && c_valid)); end
            begin : somebody_leaves assert (!c_leaves || c_valid); end
            begin : dropped_changes_nothing assert (good || !(ep_we || wr_en || ack_we || ack_lift || ctl_open || tx_valid || work_commits)); end
            begin : range_begins_or_commits assert (good || !done_we || c_opened); end
            begin : contributes_by_role assert (!(wr_en && c_accept) || in_reg); end
            begin : contribution_is_noted assert (!(wr_en && c_accept) || (c_self != NOBODY && (c_self & ~wr_mask) == NOBODY)); end
            begin : sends_by_role assert (!tx_valid || (tx_mask & ~all_reg) == NOBODY); end
            begin : somebody_gets_it assert (!tx_valid || tx_mask != NOBODY); end
            begin : room_for_decision assert (!tx_valid || tx_room); end
            begin : room_for_work assert (!work_put || !work_held); end
            begin : one_verdict assert (!(work_commits && work_kills)); end
            begin : start_waits assert (!init_take || (init_valid && !ep_we && !done_we)); end
            begin : one_access assert (!(ep_late && (rd_en || ep_we))); end
            begin : start_has_its_turn assert (!(init_waits && rd_en) && !(ack_waits && ack_rd)); end
            begin : counted_once assert (things == {5'd0, count[C_RX_FRAMES]}); end
            begin : data_comes_to_one assert (outcomes == {5'd0, count[C_UP_DATA]}); end
            begin : contribution_or_result assert (count[C_AGG] == (count[C_BUFFERED] ^ count[C_TX_RESULT]) && !(count[C_BUFFERED] && count[C_TX_RESULT])); end
            begin : result_frees assert (count[C_WIPE] == count[C_TX_RESULT]); end
        end
    end

endmodule

`default_nettype wire
