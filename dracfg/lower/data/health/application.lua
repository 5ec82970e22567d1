-- A child is as healthy as it says. Without this rule sync waves don't wait for it.
local hs = {status = "Progressing", message = "Argo CD has not judged it yet"}
local health = obj.status and obj.status.health
if health and health.status then
  hs.status = health.status
  hs.message = health.message or ""
end
return hs
