package bank;

import java.time.LocalDate;

/** A transfer of an account. Cents are positive in both directions. */
public record Transfer(long id, Direction direction, Status status, LocalDate day, long cents) {
    public enum Direction { INCOMING, OUTGOING }

    /** PENDING transfers become BOOKED, REJECTED or CANCELLED during the day. */
    public enum Status { PENDING, BOOKED, REJECTED, CANCELLED }
}
