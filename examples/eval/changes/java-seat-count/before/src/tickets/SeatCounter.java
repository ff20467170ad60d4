package tickets;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** The free seats of all shows. */
public final class SeatCounter {
    private final Map<String, Integer> free = new HashMap<>();

    public SeatCounter(Collection<Show> shows) {
        for (Show show : shows) {
            free.put(show.id(), show.freeSeats());
        }
    }

    /** Takes one seat of a show; returns false if there is none. */
    public synchronized boolean reserve(String showId) {
        int left = free.getOrDefault(showId, 0);
        if (left < 1) {
            return false;
        }
        free.put(showId, left - 1);
        return true;
    }
}
