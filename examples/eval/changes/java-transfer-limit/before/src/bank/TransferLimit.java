package bank;

/** The limit of an account for a single transfer. */
public final class TransferLimit {
    private final long limitCents;

    public TransferLimit(long limitCents) {
        if (limitCents < 0) {
            throw new IllegalArgumentException("negative limit: " + limitCents);
        }
        this.limitCents = limitCents;
    }

    /** Returns true if a transfer of {@code cents} is allowed. */
    public boolean allows(long cents) {
        if (cents <= 0) {
            throw new IllegalArgumentException("cents must be positive: " + cents);
        }
        return cents <= limitCents;
    }
}
