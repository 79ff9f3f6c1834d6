import { Prisma } from '../../../../generated/prisma/client.js';

/** The tenant and courier whose rows the models of a transaction may touch. For staff and the service itself, `courierId` is null. */
export type ModelScope = { tenantId: string; courierId: string | null };

type ModelName = keyof typeof Prisma.ModelName;
type Filter = Record<string, unknown>;

/** The scalar fields of a model, as schema.prisma declares them. */
export function fieldsOf(model: string): Set<string> {
  const found = fields.get(model);
  if (!found) throw new Error(`Unknown model ${model}.`);
  return found;
}

const fields = new Map(
  Object.keys(Prisma.ModelName).map((model) => {
    // The generated client exports an object of this name for every model.
    const scalars: unknown = Reflect.get(Prisma, `${model}ScalarFieldEnum`);
    return [model, new Set(Object.keys(scalars ?? {}))] as const;
  }),
);

/** Tables without a courier_id that couriers may read. All other tables without one are only for staff. */
const SHARED = new Set<string>([
  'Tenant',
  'TenantHost',
  'Carrier',
  'Airline',
  'Warehouse',
  'SecuritySettings',
  'TenantSettings',
] satisfies ModelName[]);

/** Tables that only the owner of the schema writes. */
const READ_ONLY = new Set<string>(['Tenant', 'TenantHost'] satisfies ModelName[]);

export const tenantField = (model: string): string => (model === 'Tenant' ? 'id' : 'tenantId');

/** The field that names the row's courier; undefined for a table that does not belong to couriers. */
export function courierField(model: string): string | undefined {
  if (model === 'Courier') return 'id';
  return fieldsOf(model).has('courierId') ? 'courierId' : undefined;
}

/**
 * The rows that a scope may read or write, as a condition on the model.
 *
 * @throws Error if the model is not available to this caller
 */
export function filterOf(model: string, scope: ModelScope, isRead: boolean): Filter {
  if (!isRead && READ_ONLY.has(model)) throw new Error(`${model} cannot be written by the service.`);
  const tenant = { [tenantField(model)]: scope.tenantId };
  if (scope.courierId === null) return tenant;
  const field = courierField(model);
  if (field) return { ...tenant, ...courierFilter(model, field, scope.courierId, isRead) };
  if (isRead && SHARED.has(model)) return tenant;
  throw new Error(`${model} is not available to couriers.`);
}

/** The same rules as the policies of row-level security: default tiers are shared, drafts of bills are hidden. */
function courierFilter(model: string, field: string, courierId: string, isRead: boolean): Filter {
  if (model === 'RateTier' && isRead) return { OR: [{ courierId }, { courierId: null }] };
  if (model === 'Bill') return { courierId, status: { not: 'draft' } };
  return { [field]: courierId };
}
