// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { reportChanged } from './events/outbox.js';
export {
  emitEventsOfPackages,
  emitPackageEvents,
  emitPrealertEvents,
  emitRecordEvents,
  OPTIONAL_EVENT_BYTES,
} from './events/events.js';
export { selectEventPackages, type EventPackageRow } from './events/event-queries.js';
export { keysOf, TEST_MARK } from './delivery/send.js';
export { openWebhookProbe, withWrongKeys, type WebhookProbe } from './probes/probe.js';
export { isAccepted, startOf } from './delivery/outcome.js';
export { withoutQuery } from './exchanges/exchange.js';
export { makeMask, type Mask } from './exchanges/mask-secrets.js';
