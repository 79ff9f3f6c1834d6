import java.time.Instant;

class TimeOf {
    static Instant timeOf(String text) {
        return Instant.parse(text.replace(' ', 'T') + "Z");
    }
}
