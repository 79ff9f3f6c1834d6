package example.crossdock.records;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import example.crossdock.Times;
import java.io.IOException;
import java.time.Instant;
import java.time.LocalDate;

/** Reads and writes times as the service does: in UTC, without a zone. */
final class Wire {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Wire() {}

  static <T> T read(JsonNode json, Class<T> kind) {
    return JSON.convertValue(json, kind);
  }

  static final class TimeReader extends StdDeserializer<Instant> {
    private static final long serialVersionUID = 1L;

    TimeReader() {
      super(Instant.class);
    }

    @Override
    public Instant deserialize(JsonParser parser, DeserializationContext context) throws IOException {
      return Times.parse(parser.getText());
    }
  }

  static final class DateReader extends StdDeserializer<LocalDate> {
    private static final long serialVersionUID = 1L;

    DateReader() {
      super(LocalDate.class);
    }

    @Override
    public LocalDate deserialize(JsonParser parser, DeserializationContext context) throws IOException {
      return LocalDate.parse(parser.getText());
    }
  }

  static final class TimeWriter extends StdSerializer<Instant> {
    private static final long serialVersionUID = 1L;

    TimeWriter() {
      super(Instant.class);
    }

    @Override
    public void serialize(Instant value, JsonGenerator to, SerializerProvider provider) throws IOException {
      to.writeString(Times.format(value));
    }
  }

  static final class DateWriter extends StdSerializer<LocalDate> {
    private static final long serialVersionUID = 1L;

    DateWriter() {
      super(LocalDate.class);
    }

    @Override
    public void serialize(LocalDate value, JsonGenerator to, SerializerProvider provider) throws IOException {
      to.writeString(value.toString());
    }
  }
}
