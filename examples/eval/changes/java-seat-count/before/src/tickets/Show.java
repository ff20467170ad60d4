package tickets;

/** A show with the number of seats that are free at start. */
public record Show(String id, int freeSeats) {
}
