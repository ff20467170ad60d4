package receipt;

/**
 * Formats amounts such as 1'234.50. The buffer is reused between calls, so an instance
 * must not be used by several threads at a time.
 */
final class AmountFormat {
    private final StringBuilder buffer = new StringBuilder();

    /** Returns the text of an amount in cents, which is not negative. */
    String format(long cents) {
        buffer.setLength(0);
        buffer.append(cents / 100);
        for (int at = buffer.length() - 3; at > 0; at -= 3) {
            buffer.insert(at, '\'');
        }
        buffer.append('.').append(cents / 10 % 10).append(cents % 10);
        return buffer.toString();
    }
}
