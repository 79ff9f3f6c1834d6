/** The texts of Put away. They load with the station. */
const putawayEn = {
  'putaway.place': 'Place',
  'putaway.other': 'Other place',
  'putaway.idlePlace': 'Scan the place, then its parcels',
  'putaway.idle': 'Scan each parcel that you put here',
  'putaway.number': 'Number or place',
  'putaway.chosen': 'Now scan the parcels that you put here.',
  'putaway.isNumber': '{scan} looks like the number of a parcel. Scan the place first.',
  'putaway.usePlace': 'It is a place',
  'putaway.tooLong': 'The name of a place has at most 50 characters.',
  'putaway.manifest': '{scan} is the number of a manifest.',
  'word.place': 'PLACE',
  'word.scanPlace': 'SCAN THE PLACE',
} as const;

export type PutawayKey = keyof typeof putawayEn;

const putawayEs: Record<PutawayKey, string> = {
  'putaway.place': 'Lugar',
  'putaway.other': 'Otro lugar',
  'putaway.idlePlace': 'Escanee el lugar y después sus paquetes',
  'putaway.idle': 'Escanee cada paquete que deja aquí',
  'putaway.number': 'Número o lugar',
  'putaway.chosen': 'Ahora escanee los paquetes que deja aquí.',
  'putaway.isNumber': '{scan} parece el número de un paquete. Escanee primero el lugar.',
  'putaway.usePlace': 'Es un lugar',
  'putaway.tooLong': 'El nombre de un lugar tiene como máximo 50 caracteres.',
  'putaway.manifest': '{scan} es el número de un manifiesto.',
  'word.place': 'LUGAR',
  'word.scanPlace': 'ESCANEE EL LUGAR',
};

export const putawayTexts = { en: putawayEn, es: putawayEs };
