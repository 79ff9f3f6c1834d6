// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { reportChanged } from './events/outbox.js';
export { emitEventsOfPackages, emitPackageEvents } from './events/events.js';
export { selectEventPackages, type EventPackageRow } from './events/event-queries.js';
