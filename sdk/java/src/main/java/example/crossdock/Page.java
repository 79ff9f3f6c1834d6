package example.crossdock;

import java.util.List;

/** One page of a list, and what the list says about all pages. */
public final class Page<R, M> {
  private final List<R> data;
  private final M meta;
  private final int total;

  Page(List<R> data, M meta, int total) {
    this.data = data;
    this.meta = meta;
    this.total = total;
  }

  public List<R> data() {
    return data;
  }

  /** Null for a list that says nothing but its total. */
  public M meta() {
    return meta;
  }

  /** Number of records on all pages, for a list without a meta. */
  public int total() {
    return total;
  }
}
