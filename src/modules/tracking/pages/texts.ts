import type { Texts } from '../../../platform/pages/language.js';
import type { PackageStatus } from '../../packages/public.js';

/** What a status means for the customer of a parcel. */
type StatusText = { title: string; advice: string };

export type PageTexts = {
  title: string;
  number: string;
  branch: string;
  expected: string;
  flight: string;
  amountDue: string;
  history: string;
  note: string;
  statuses: Record<PackageStatus, StatusText>;
  search: {
    title: string;
    advice: string;
    number: string;
    lastName: string;
    send: string;
    nothing: string;
  };
};

export const TEXTS: Texts<PageTexts> = {
  en: {
    title: 'Your parcel',
    number: 'Tracking number',
    branch: 'Branch',
    expected: 'Expected',
    flight: 'Flight',
    amountDue: 'To pay',
    history: 'What has happened',
    note: 'From your courier',
    statuses: {
      received: { title: 'At the warehouse', advice: 'The warehouse has received your parcel.' },
      shipped: { title: 'On a flight', advice: 'Your parcel has left the warehouse.' },
      in_transit: { title: 'On its way', advice: 'Your parcel is on its way to your courier.' },
      delivered: { title: 'Arrived', advice: 'Your parcel has reached your courier.' },
      on_hold: {
        title: 'On hold',
        advice: 'Your parcel is held for the moment. Ask your courier if you do not know why.',
      },
      customs_hold: { title: 'At customs', advice: 'Customs are checking your parcel.' },
      returned: { title: 'Returned', advice: 'Your parcel was returned. Ask your courier for the reason.' },
      lost: { title: 'Being looked for', advice: 'Your parcel is being looked for. Ask your courier.' },
    },
    search: {
      title: 'Where is my parcel?',
      advice: 'Enter the tracking number of the shop or carrier, and the last name of the customer.',
      number: 'Tracking number',
      lastName: 'Last name',
      send: 'Find parcel',
      nothing:
        'There is no parcel with this number and this last name. Check both. The warehouse may not have received it yet.',
    },
  },
  es: {
    title: 'Su paquete',
    number: 'Número de rastreo',
    branch: 'Sucursal',
    expected: 'Llegada prevista',
    flight: 'Vuelo',
    amountDue: 'Por pagar',
    history: 'Qué ha pasado',
    note: 'De su courier',
    statuses: {
      received: { title: 'En el almacén', advice: 'El almacén ha recibido su paquete.' },
      shipped: { title: 'En un vuelo', advice: 'Su paquete ha salido del almacén.' },
      in_transit: { title: 'En camino', advice: 'Su paquete va en camino a su courier.' },
      delivered: { title: 'Llegó', advice: 'Su paquete ha llegado a su courier.' },
      on_hold: {
        title: 'Retenido',
        advice: 'Su paquete está retenido por el momento. Si no sabe por qué, pregunte a su courier.',
      },
      customs_hold: { title: 'En aduana', advice: 'La aduana está revisando su paquete.' },
      returned: {
        title: 'Devuelto',
        advice: 'Su paquete fue devuelto. Pregunte el motivo a su courier.',
      },
      lost: { title: 'En búsqueda', advice: 'Estamos buscando su paquete. Pregunte a su courier.' },
    },
    search: {
      title: '¿Dónde está mi paquete?',
      advice: 'Escriba el número de rastreo de la tienda o del transportista y el apellido del cliente.',
      number: 'Número de rastreo',
      lastName: 'Apellido',
      send: 'Buscar paquete',
      nothing:
        'No hay ningún paquete con este número y este apellido. Revise ambos. Puede que el almacén aún no lo haya recibido.',
    },
  },
};
