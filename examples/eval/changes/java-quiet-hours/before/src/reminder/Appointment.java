package reminder;

import java.time.ZonedDateTime;

/** An appointment; {@code start} is in the time zone of the practice. */
public record Appointment(long id, String phone, ZonedDateTime start) {
}
