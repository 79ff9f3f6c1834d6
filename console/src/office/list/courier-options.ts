import type { CourierRecord } from '../../../../sdk/typescript/src/index.js';
import { api } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { useLoad, type Loaded } from '../../ui/load.js';

/** The largest page of the service. A warehouse has fewer couriers. */
const MOST = 500;

/** Loads the couriers for a choice. */
export const useCouriers = (): Loaded<CourierRecord[]> =>
  useLoad(
    async (signal) =>
      (await api().couriers.list({ limit: MOST, sort_by: 'courier_name', sort_dir: 'ASC' }, { signal })).data,
    [],
  );

/** The choices of a filter by courier. */
export const courierOptions = (couriers: CourierRecord[] = []): [value: string, text: string][] =>
  couriers.map(({ courier_id, courier_name }) => [courier_id, courier_name]);

/** The choices of a form. Nothing is chosen before the person has, because a wrong courier would be noticed late. */
export const courierChoices = (couriers: CourierRecord[] = []): [value: string, text: string][] => [
  ['', t('office.chooseCourier')],
  ...courierOptions(couriers),
];
