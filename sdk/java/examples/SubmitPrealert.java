import example.crossdock.Crossdock;
import example.crossdock.CrossdockException;
import example.crossdock.FailureCode;
import example.crossdock.records.PrealertSubmission;
import example.crossdock.records.SubmittedPrealert;

/** Submits a pre-alert with the API key of a courier. A parcel that was announced for the same customer is no failure. */
public class SubmitPrealert {
  public static void main(String[] args) throws Exception {
    Crossdock crossdock =
        Crossdock.at(System.getenv("CROSSDOCK_URL")).apiKey(System.getenv("CROSSDOCK_API_KEY")).build();
    PrealertSubmission prealert =
        new PrealertSubmission()
            .userCode("IEX-1001")
            .trackingNumber(args[0])
            .vendor("Example Books");
    try {
      SubmittedPrealert submitted = crossdock.prealerts().submit(prealert);
      System.out.println("announced " + submitted.prealertId());
      submitted.warnings().forEach(each -> System.out.println("check it: " + each.message() + " (" + each.code() + ")"));
    } catch (CrossdockException failure) {
      if (!failure.is(FailureCode.DUPLICATE_TRACKING_NUMBER)) throw failure;
      boolean differs = failure.existing() != null && failure.existing().differs();
      if (differs)
        throw new IllegalStateException(
            "The number is announced for another customer, " + failure.existing().userCode() + ".", failure);
      System.out.println("already announced");
    }
  }
}
