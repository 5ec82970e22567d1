-- A claim is allocated when a pod needs it, so to wait for that would never end.
local status = obj.status or {}
for _, device in ipairs(status.devices or {}) do
  for _, condition in ipairs(device.conditions or {}) do
    if condition.type == "Ready" and condition.status == "False" then
      local name = device.driver .. "/" .. device.pool .. "/" .. device.device
      return {status = "Degraded", message = name .. ": " .. (condition.message or "not ready")}
    end
  end
end
if not status.allocation then
  return {status = "Healthy", message = "not allocated: no pod needs it now"}
end
local users = {}
for _, user in ipairs(status.reservedFor or {}) do
  table.insert(users, user.name)
end
if #users == 0 then
  return {status = "Healthy", message = "allocated, no pod uses it now"}
end
return {status = "Healthy", message = "allocated to " .. table.concat(users, ", ")}
