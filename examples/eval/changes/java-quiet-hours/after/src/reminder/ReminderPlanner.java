package reminder;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZonedDateTime;
import java.util.Optional;

/** Decides when the reminder of an appointment is sent. */
public final class ReminderPlanner {
    private static final Duration LEAD = Duration.ofHours(24);
    private static final LocalTime QUIET_FROM = LocalTime.of(18, 0);
    private static final LocalTime QUIET_TO = LocalTime.of(8, 0);

    private ReminderPlanner() {
    }

    /** Returns the time of the reminder, empty if there is none to send. */
    public static Optional<ZonedDateTime> sendAt(Appointment appointment, Instant now) {
        ZonedDateTime current = now.atZone(appointment.start().getZone());
        ZonedDateTime wanted = appointment.start().minus(LEAD);
        if (wanted.isBefore(current)) {
            wanted = current;
        }
        ZonedDateTime time = afterQuietHours(wanted);
        return time.isBefore(appointment.start()) ? Optional.of(time) : Optional.empty();
    }

    private static ZonedDateTime afterQuietHours(ZonedDateTime wanted) {
        LocalTime time = wanted.toLocalTime();
        if (time.isBefore(QUIET_TO)) {
            return wanted.with(QUIET_TO);
        }
        if (time.isAfter(QUIET_FROM)) {
            return wanted.plusDays(1).with(QUIET_TO);
        }
        return wanted;
    }
}
