-- additive
-- Whether an engagement may become a call while its operator has other text engagements. The default is constant, so no row is written.
ALTER TABLE sites ADD COLUMN calls_beside_chats boolean NOT NULL DEFAULT true;

-- Boards know the setting: see move_board() in 0004.
CREATE TRIGGER move_board_calls AFTER UPDATE OF calls_beside_chats ON sites FOR EACH ROW
  EXECUTE FUNCTION move_board('sites', 'id');
