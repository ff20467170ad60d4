package tickets;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The free seats of all shows. */
public final class SeatCounter {
    private final Map<String, Integer> free = new ConcurrentHashMap<>();

    public SeatCounter(Collection<Show> shows) {
        for (Show show : shows) {
            free.put(show.id(), show.freeSeats());
        }
    }

    /** Takes seats of a show; returns false if there are not enough or the show is unknown. */
    public boolean reserve(String showId, int seats) {
        requirePositive(seats);
        Integer left = free.get(showId);
        if (left == null || left < seats) {
            return false;
        }
        free.put(showId, left - seats);
        return true;
    }

    /** Gives reserved seats back. */
    public void giveBack(String showId, int seats) {
        requirePositive(seats);
        free.computeIfPresent(showId, (id, left) -> left + seats);
    }

    /** Returns the number of free seats, 0 for an unknown show. */
    public int freeSeats(String showId) {
        return free.getOrDefault(showId, 0);
    }

    private static void requirePositive(int seats) {
        if (seats < 1) {
            throw new IllegalArgumentException("seats must be positive: " + seats);
        }
    }
}
