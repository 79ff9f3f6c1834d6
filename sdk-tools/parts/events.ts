import type { Contract, Schema } from '../contract.js';
import { resolveSchema } from '../operations.js';

/** One type of event, as the feed and the webhooks have it. */
export type EventType = {
  /** `package.created` */
  type: string;
  /** `PackageCreated` */
  className: string;
  /** The schema of the whole event. */
  schema: string;
  description: string;
  /** What the event is about. Several types can have the same. */
  data: Schema;
  /** The name of its class: that of the schema, or one made of the event's. */
  dataName: string;
};

/** Returns all types of events of the contract: those of the feed, and the test of webhooks. */
export function eventTypes(contract: Contract): EventType[] {
  const union = contract.components.schemas['CourierEvent'] as
    | { discriminator?: { mapping?: Record<string, string> } }
    | undefined;
  const references = [...Object.values(union?.discriminator?.mapping ?? {}), TEST];
  return references.map((reference) => eventOf(contract, reference));
}

const TEST = '#/components/schemas/WebhookTestEvent';

function eventOf(contract: Contract, reference: string): EventType {
  const schema = reference.split('/').at(-1) ?? '';
  const definition = resolveSchema(contract, { $ref: reference });
  const { type, data } = definition.properties ?? {};
  if (!data || typeof type?.['const'] !== 'string') throw new Error(`${schema} is not an event.`);
  const className = schema.replace(/Event$/, '');
  return {
    ...{ type: type['const'], className, schema, data },
    description: definition.description ?? `The event ${type['const']}.`,
    dataName: data.$ref?.split('/').at(-1) ?? `${className}Data`,
  };
}
