import type { NoticeLanguage, NoticeState } from '../settings-queries.js';

type StateText = { one: string; several: (count: number) => string };

export type MailTexts = {
  states: Record<NoticeState, StateText>;
  /** The subject of a mail about several statuses. */
  news: (count: number) => string;
  greeting: (name: string) => string;
  more: (count: number) => string;
  reason: (courier: string, tenant: string, userCode: string) => string;
  stop: string;
};

/** Texts of one parcel and of several. */
const of = (one: string, several: string): StateText => ({ one, several: (count) => `${count} ${several}` });

export const TEXTS: Record<NoticeLanguage, MailTexts> = {
  en: {
    states: {
      received: of('Your parcel is at the warehouse', 'parcels are at the warehouse'),
      shipped: of('Your parcel is on a flight', 'parcels are on a flight'),
      in_transit: of('Your parcel is on its way', 'parcels are on their way'),
      delivered: of('Your parcel has arrived', 'parcels have arrived'),
      on_hold: of('Your parcel is on hold', 'parcels are on hold'),
      customs_hold: of('Your parcel is at customs', 'parcels are at customs'),
      returned: of('Your parcel was returned', 'parcels were returned'),
      lost: of('Your parcel is being looked for', 'parcels are being looked for'),
    },
    news: (count) => `News of ${count} parcels`,
    greeting: (name) => (name === '' ? 'Hello,' : `Hello ${name},`),
    more: (count) => `And ${count} more.`,
    reason: (courier, tenant, userCode) =>
      `${tenant} sends this mail for ${courier}, because you are its customer ${userCode}.`,
    stop: 'No more of these mails',
  },
  es: {
    states: {
      received: of('Su paquete está en el almacén', 'paquetes están en el almacén'),
      shipped: of('Su paquete está en un vuelo', 'paquetes están en un vuelo'),
      in_transit: of('Su paquete va en camino', 'paquetes van en camino'),
      delivered: of('Su paquete llegó', 'paquetes llegaron'),
      on_hold: of('Su paquete está retenido', 'paquetes están retenidos'),
      customs_hold: of('Su paquete está en la aduana', 'paquetes están en la aduana'),
      returned: of('Su paquete fue devuelto', 'paquetes fueron devueltos'),
      lost: of('Estamos buscando su paquete', 'paquetes en búsqueda'),
    },
    news: (count) => `Novedades de ${count} paquetes`,
    greeting: (name) => (name === '' ? 'Hola:' : `Hola, ${name}:`),
    more: (count) => `Y ${count} más.`,
    reason: (courier, tenant, userCode) =>
      `${tenant} envía este correo por ${courier}, porque usted es su cliente ${userCode}.`,
    stop: 'No recibir más estos correos',
  },
};
