import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { t } from '../../../texts/texts.js';
import { Choice } from '../../../ui/parts.js';
import { courierChoices } from '../../list/courier-options.js';
import { givenRoles, isAdmin, isCourier, type PlaceValues } from './people.js';

type Props = {
  form: { values: PlaceValues; set: (name: keyof PlaceValues, value: string) => void };
  couriers: CourierRecord[] | undefined;
};

/** The role of a user, its courier, and its role there. A courier's user is asked only for the last one. */
export const PlaceFields = ({ form, couriers }: Props) => (
  <>
    {!isCourier() && (
      <Choice
        label={t('team.role')}
        value={form.values.role}
        onValue={(role) => form.set('role', role)}
        options={givenRoles().map((role) => [role, t(`role.${role}`)])}
      />
    )}
    {form.values.role === 'courier' && !isCourier() && (
      <Choice
        label={t('common.courier')}
        value={form.values.courier_id}
        onValue={(value) => form.set('courier_id', value)}
        options={courierChoices(couriers)}
      />
    )}
    {form.values.role === 'courier' && !isAdmin() && (
      <Choice
        label={t('team.courierRole')}
        value={form.values.courier_role}
        onValue={(value) => form.set('courier_role', value)}
        options={(['member', 'owner'] as const).map((role) => [role, t(`courierRole.${role}`)])}
      />
    )}
  </>
);
