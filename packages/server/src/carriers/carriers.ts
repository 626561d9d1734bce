import type { Carrier, CarrierNetwork, SettingReader, SettingRow } from './carrier.ts';
import { twilio } from './twilio.ts';

/** Every SMS carrier. If the settings of several are set, the first one sends. */
const carriers = [twilio];

type CarrierSetting = (typeof carriers)[number]['settings'][number]['name'];

export const carrierSettings = carriers.flatMap(({ settings }): readonly SettingRow<CarrierSetting>[] => settings);

/** The settings of each carrier; `null`: they are not set. */
export type CarrierConfig = ReturnType<typeof readCarriers>;

export function readCarriers(reader: SettingReader<CarrierSetting>) {
  return { ...twilio.read(reader) };
}

/** `null`: no carrier is configured. */
export function openCarrier(config: CarrierConfig, network: CarrierNetwork): Carrier | null {
  for (const { open } of carriers) {
    const carrier = open(config, network);
    if (carrier !== null) return carrier;
  }
  return null;
}

/** Where the configured carriers are reached, and by which setting. */
export function carrierAddresses(config: CarrierConfig): readonly { readonly url: string; readonly setting: string }[] {
  return carriers.map(({ address }) => address(config)).filter((address) => address !== null);
}

/** What to set for SMS: the settings of one of the carriers. */
export function describeCarrierSettings(): string {
  return carriers.map(({ settings }) => settings.map(({ name }) => name).join(', ')).join('; or ');
}
