import type { BodyOf } from '../../../platform/contract/types.js';

/** The body of an action of ManageCourierBills. */
export type ActionInput<Name> = Omit<Extract<BodyOf<'manageCourierBills'>, { action: Name }>, 'action'>;
