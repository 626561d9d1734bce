/** An invalid setting. The message names the setting, its value and the allowed values. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}
