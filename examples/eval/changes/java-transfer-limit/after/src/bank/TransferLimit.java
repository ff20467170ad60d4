package bank;

import bank.Transfer.Direction;
import bank.Transfer.Status;
import java.time.LocalDate;
import java.util.List;

/** The daily limit of an account. */
public final class TransferLimit {
    private final long limitCents;

    public TransferLimit(long limitCents) {
        if (limitCents < 0) {
            throw new IllegalArgumentException("negative limit: " + limitCents);
        }
        this.limitCents = limitCents;
    }

    /** Returns the cents that may still be transferred on the day. */
    public long remaining(List<Transfer> transfers, LocalDate day) {
        long used = transfers.stream()
                .filter(transfer -> counts(transfer, day))
                .mapToLong(Transfer::cents)
                .sum();
        return Math.max(limitCents - used, 0);
    }

    /** Returns true if a transfer of {@code cents} is allowed on the day. */
    public boolean allows(List<Transfer> transfers, LocalDate day, long cents) {
        if (cents <= 0) {
            throw new IllegalArgumentException("cents must be positive: " + cents);
        }
        return cents <= remaining(transfers, day);
    }

    private static boolean counts(Transfer transfer, LocalDate day) {
        return transfer.direction() == Direction.OUTGOING
                && transfer.status() == Status.BOOKED
                && transfer.day().equals(day);
    }
}
