package receipt;

import java.util.List;

/** Renders receipts; one instance serves the whole checkout server. */
public final class ReceiptRenderer {
    private static final int NAME_WIDTH = 24;
    private static final int AMOUNT_WIDTH = 10;

    private final AmountFormat amounts = new AmountFormat();

    /** An item of a receipt. */
    public record Item(String name, long cents) {
    }

    /** Returns the text of a receipt with a total line. */
    public String render(List<Item> items) {
        StringBuilder text = new StringBuilder();
        long total = 0;
        for (Item item : items) {
            appendLine(text, item.name(), item.cents());
            total += item.cents();
        }
        appendLine(text, "Total", total);
        return text.toString();
    }

    private void appendLine(StringBuilder text, String name, long cents) {
        String cut = name.length() > NAME_WIDTH ? name.substring(0, NAME_WIDTH) : name;
        String amount = amounts.format(cents);
        text.append(cut)
                .append(" ".repeat(NAME_WIDTH - cut.length()))
                .append(" ".repeat(Math.max(AMOUNT_WIDTH - amount.length(), 0)))
                .append(amount)
                .append('\n');
    }
}
