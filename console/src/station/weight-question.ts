import { change } from '../device/settings.js';
import { api } from '../session/session.js';

/** Reads from which weight on the warehouse wants a question. Without a connection the last known one holds. */
export async function loadWeightQuestion(): Promise<void> {
  try {
    const { data } = await api().warehouses.list({ limit: 1 });
    // The primary warehouse, which receives what the station scans, is the first.
    const [primary] = data;
    if (primary) change({ weightQuestionLb: primary.weight_question_lb });
  } catch {
    // A page without this answer asks by the last limit.
  }
}
